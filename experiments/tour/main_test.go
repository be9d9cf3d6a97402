package main

import (
	"testing"

	"gorbm/experiments/internal/claims/claimstest"
)

func TestQuick(t *testing.T) { claimstest.Pictures(t, "tour", run) }
