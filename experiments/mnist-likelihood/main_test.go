package main

import (
	"testing"

	"gorbm/experiments/internal/claims/claimstest"
	"gorbm/experiments/internal/program"
)

func TestQuick(t *testing.T) { claimstest.Quick(t, experiment(&program.Runs{}), run) }
