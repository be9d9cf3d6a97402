// Manifest checks a Kubernetes manifest of an indexed job against the types of the Kubernetes API:
// a field that the API does not have, or of another type, fails, and so do a name or a quantity that it would
// refuse. Nothing is run.
//
//	go -C .ci/manifest run . ../../experiments/scale/job.yaml
//
// It is a module of its own, so that the program does not depend on Kubernetes.
package main

import (
	"fmt"
	"os"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"
)

func main() {
	for _, path := range os.Args[1:] {
		if err := check(path); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", path, err)
			os.Exit(1)
		}
		fmt.Println(path, "is a valid indexed job")
	}
}

func check(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var job batch.Job
	if err := yaml.UnmarshalStrict(text, &job); err != nil {
		return err
	}
	s := job.Spec
	pod := s.Template.Spec
	for _, c := range []struct {
		wrong bool
		what  string
	}{
		{job.APIVersion != "batch/v1" || job.Kind != "Job", "it is not a Job of batch/v1"},
		{s.CompletionMode == nil || *s.CompletionMode != batch.IndexedCompletion, "completionMode is not Indexed, so there is no JOB_COMPLETION_INDEX"},
		{s.Completions == nil || *s.Completions < 1 || s.Parallelism == nil || *s.Parallelism < 1, "an indexed job needs completions and parallelism"},
		{pod.RestartPolicy != core.RestartPolicyNever && pod.RestartPolicy != core.RestartPolicyOnFailure, "restartPolicy of a job is Never or OnFailure"},
		{s.BackoffLimitPerIndex != nil && pod.RestartPolicy != core.RestartPolicyNever, "backoffLimitPerIndex needs restartPolicy Never"},
		{len(pod.Containers) == 0, "there is no container"},
	} {
		if c.wrong {
			return fmt.Errorf("%s", c.what)
		}
	}
	names := map[string]string{"metadata.name": job.Name}
	volumes := map[string]bool{}
	for _, v := range pod.Volumes {
		names["volume "+v.Name] = v.Name
		volumes[v.Name] = true
	}
	for _, c := range pod.Containers {
		names["container "+c.Name] = c.Name
		if c.Image == "" {
			return fmt.Errorf("container %s has no image", c.Name)
		}
		for name, most := range c.Resources.Limits {
			if least, ok := c.Resources.Requests[name]; ok && least.Cmp(most) > 0 {
				return fmt.Errorf("container %s requests %v of %s, above its limit %v", c.Name, &least, name, &most)
			}
		}
		for _, m := range c.VolumeMounts {
			if !volumes[m.Name] {
				return fmt.Errorf("container %s mounts %s, which is no volume", c.Name, m.Name)
			}
		}
	}
	for what, name := range names {
		if wrong := validation.IsDNS1123Label(name); wrong != nil {
			return fmt.Errorf("%s %q: %s", what, name, wrong[0])
		}
	}
	return nil
}
