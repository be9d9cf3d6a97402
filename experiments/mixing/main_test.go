package main

import (
	"testing"

	"gorbm/experiments/internal/figures/figurestest"
)

func TestQuick(t *testing.T) { figurestest.Quick(t, experiment, experiment.Command(nil)) }

func TestCommitted(t *testing.T) { figurestest.Committed(t, experiment) }
