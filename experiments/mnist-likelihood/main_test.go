package main

import (
	"testing"

	"gorbm/experiments/internal/figures/figurestest"
	"gorbm/experiments/internal/training"
)

func TestQuick(t *testing.T) { figurestest.Quick(t, experiment(&training.Commands{}), run) }

func TestCommitted(t *testing.T) { figurestest.Committed(t, experiment(&training.Commands{})) }
