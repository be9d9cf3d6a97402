package main

import (
	"testing"

	"gorbm/experiments/internal/claims/claimstest"
)

func TestQuick(t *testing.T) { claimstest.Quick(t, experiment, experiment.Command(nil)) }

func TestCommitted(t *testing.T) { claimstest.Committed(t, experiment) }
