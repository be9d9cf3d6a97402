package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"gorbm/experiments/internal/claims"
	"gorbm/experiments/internal/program"
)

// Flags of rbmtrain for all runs.
const (
	common      = "-data mnist -holdout 10000 -eval-every 5000"
	quickCommon = "-data shifter:6 -holdout 20 -steps 100 -eval-every 50 -hidden 10 -batch 5"
	always      = "-binarize none -init random -metrics classification -snapshots 0 -workers 1"
)

// flagsOf returns the flags of rbmtrain for a row, by name.
func flagsOf(r row, seed int, quick bool) map[string]string {
	return program.FlagsOf(always+" "+common, r.flags, seed, quick, quickCommon)
}

// measure makes the training run of rows[at], or resumes it, and evaluates the
// model that is best on the held-out rows of the data.
func measure(ctx context.Context, p *program.Runs, at, seed int, quick bool) ([]claims.Point, error) {
	r := rows[at]
	flags := flagsOf(r, seed, quick)
	folder, remove, err := p.Folder(fmt.Sprintf("%s-%d", r.name, seed))
	if err != nil {
		return nil, err
	}
	defer remove()
	seconds, err := p.Train(ctx, folder, flags)
	if err != nil {
		return nil, err
	}
	steps, err := strconv.Atoi(flags["steps"])
	if err != nil {
		return nil, err
	}
	step, holdout, err := least(folder)
	if err != nil {
		return nil, err
	}
	var tested struct {
		Classification struct {
			Error       float64 `json:"error"`
			NLL         float64 `json:"negative_log_likelihood"`
			Rows        float64 `json:"n"`
			Calibration struct {
				Temperature float64 `json:"temperature"`
				After       struct {
					ECE float64 `json:"ece"`
				} `json:"after"`
			} `json:"calibration"`
		} `json:"classification"`
	}
	if _, err := p.Call(ctx, &tested, "rbmeval", "-model", filepath.Join(folder, "best.safetensors"), "-data", flags["data"], "-binarize", flags["binarize"], "-classify", "-workers", "1", "-json"); err != nil {
		return nil, err
	}
	c := tested.Classification
	var points []claims.Point
	add := func(panel, curve string, y float64) {
		points = append(points, claims.Point{Panel: panel, Curve: curve, Repeat: seed, X: float64(at), Y: y})
	}
	add(errorPanel, published, r.published)
	add(errorPanel, here, 100*c.Error)
	add(errorPanel, heldOut, 100*holdout)
	add(rowsPanel, here, c.Rows)
	add(nllPanel, here, c.NLL)
	add(ecePanel, here, 100*c.Calibration.After.ECE)
	add(temperaturePanel, here, c.Calibration.Temperature)
	add(timePanel, here, seconds)
	add(stepPanel, here, float64(step))
	add(stepsPanel, here, float64(steps))
	return points, nil
}

// least returns the first step with the smallest error on the rows held out, and that
// error.
func least(folder string) (step int, least float64, err error) {
	steps, err := program.Measured(folder, "step")
	if err != nil {
		return 0, 0, err
	}
	errors, err := program.Measured(folder, "error_holdout")
	if err != nil {
		return 0, 0, err
	}
	for i, x := range errors {
		if i == 0 || x < least {
			step, least = int(steps[i]), x
		}
	}
	return step, least, nil
}
