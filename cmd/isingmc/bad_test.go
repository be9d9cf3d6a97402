package main

import (
	"strings"
	"testing"

	"gorbm/cmd/cli"
	"gorbm/cmd/cli/clitest"
)

// TestBadUsage checks mistakes in the command line: status 2, one line that names the
// mistake and the remedy, and no files.
func TestBadUsage(t *testing.T) {
	clitest.Isolate(t)
	clitest.Write(t, "there.png", "mine")
	clitest.Write(t, "pair.txt", "0 1 1\n")
	for _, c := range []struct {
		args string
		want []string
	}{
		// Temperature.
		{"-beta 0", []string{"-beta is 0", "above 0"}},
		{"-beta -1", []string{"-beta is -1"}},
		{"-beta NaN", []string{"-beta is NaN"}},
		{"-beta Inf", []string{"-beta is +Inf"}},
		{"-beta cold", []string{`"cold" for flag -beta`}},
		{"-temperature 0", []string{"-temperature is 0", "above 0"}},
		{"-temperature -2", []string{"-temperature is -2"}},
		{"-temperature NaN", []string{"-temperature is NaN"}},
		{"-temperature 1e-320", []string{"-temperature is 1e-320"}},
		{"-beta 1 -temperature 1", []string{"-beta and -temperature", "give one"}},
		// Lattice.
		{"-lattice 60by60", []string{`"60by60"`, "60x60", "does not exist"}},
		{"-lattice chimaera:4", []string{`"chimaera:4"`, "did you mean chimera?"}},
		{"-lattice 0x5", []string{"-lattice", "side of 0"}},
		{"-lattice 1x5", []string{"periodic side of 1", "free"}},
		{"-lattice -3x5", []string{"-lattice", `"-3x5"`}},
		{"-lattice 100000x100000", []string{"-lattice", "more than 16777216 spins"}},
		{"-lattice 99999999999999999999x2", []string{"-lattice", "no lattice"}},
		{"-lattice chimera:0", []string{"-lattice", "at least 1"}},
		{"-lattice chimera:x", []string{"chimera:4x3"}},
		{"-lattice ", []string{"-lattice", `""`}},
		{"-lattice nowhere.txt", []string{"nowhere.txt", "does not exist"}},
		{"-boundary open", []string{"-boundary", `"open"`, "periodic, free"}},
		{"-boundary fre", []string{"did you mean free?"}},
		{"-J pm2", []string{"-J", `"pm2"`, "did you mean pm1?"}},
		{"-J gausian", []string{"did you mean gaussian?"}},
		{"-J NaN", []string{"-J", "NaN is not finite"}},
		{"-J Inf", []string{"-J", "not finite"}},
		{"-J 1e300", []string{"-lattice", "couplings and fields of size"}},
		{"-J pm1:7", []string{"-J", `"7"`, "seed=N"}},
		{"-J pm1:seed=x", []string{"seed=N"}},
		{"-J 1:seed=3", []string{"not random"}},
		{"-field NaN", []string{"-field is NaN"}},
		{"-field Inf", []string{"-field is +Inf"}},
		{"-lattice pair.txt -J 2", []string{"-J is for lattices", "pair.txt"}},
		{"-lattice pair.txt -boundary free", []string{"-boundary is for lattices"}},
		{"-lattice pair.txt -field 1", []string{"-field is for lattices"}},
		// Observables and states.
		{"-gap -observables -lattice 2x2", []string{"-gap, which runs no chain", "-observables"}},
		{"-gap -overlap -lattice 2x2", []string{"-gap, which runs no chain", "-overlap"}},
		{"-gap -states s.npz -lattice 2x2", []string{"-gap, which runs no chain", "-states"}},
		{"-states s.csv -sampler gibbs", []string{"-states", ".npz"}},
		{"-states s.npz -sampler gibbs,sw", []string{"-states", "one sampler", "names 2"}},
		{"-keep 5", []string{"-keep", "-keep is for -states"}},
		{"-states s.npz -sampler gibbs -keep 1", []string{"-keep is 1", "2 …"}},
		{"-states s.npz -sampler gibbs -keep 1000000", []string{"-keep is 1000000", "298261"}},
		// Scans.
		{"-scan 1:2", []string{"-scan", "LOW:HIGH:N"}},
		{"-scan 1:2:x", []string{"-scan", "LOW:HIGH:N"}},
		{"-scan 2:1:5", []string{"-scan", "LOW must be below HIGH"}},
		{"-scan 0:1:5", []string{"-scan", "above 0", "beta=0"}},
		{"-scan 1:inf:5", []string{"-scan", "finite"}},
		{"-scan NaN:1:5", []string{"-scan", "LOW must be below HIGH"}},
		{"-scan 1:2:1", []string{"-scan", "2 … 200"}},
		{"-scan beta=-1:1:5", []string{"-scan", "above 0"}},
		{"-scan 1:1.0000000000000002:50", []string{"-scan", "infinite or equal"}},
		{"-scan 1:2:3 -beta 1", []string{"-scan, which measures at many temperatures", "-beta"}},
		{"-scan 1:2:3 -overlap", []string{"-scan, which measures at many temperatures", "-overlap"}},
		{"-scan 1:2:3 -gap -lattice 2x2", []string{"-scan", "-gap"}},
		{"-scan 1:2:3 -sampler pt:replicas=3", []string{"-sampler", "those of -scan", "leave out replicas"}},
		{"-scan 1:2:3 -lattice 4x4,5x5,6x6 -sampler gibbs,sw,pt", []string{"3 lattices by 3 samplers", "at most"}},
		{"-scan 1:2:3 -lattice 4x4,5by5", []string{"-lattice", "5by5"}},
		{"-scan 1:2:3 -table t.txt", []string{"-table", ".csv"}},
		{"-table t.csv", []string{"-table is for -scan"}},
		{"-lattice 4x4,5x5", []string{"-lattice", "several lattices", "-scan"}},
		// Ladders.
		{"-sampler pt:replicas=1", []string{"-sampler", "replicas is 1"}},
		{"-sampler ins:hottest=0.5", []string{"-sampler", "hottest is 0.5"}},
		{"-sampler pt:gibs", []string{"-sampler", "did you mean gibbs?"}},
		{"-sampler pt:block-gibbs", []string{"-sampler", "block-gibbs", "need an RBM"}},
		{"-sampler pt,exchange", []string{"exchange keeps the number of spins up, pt does not"}},
		{"-lattice 2x2 -gap -sampler pt", []string{"-gap", "pt"}},
		{"-tune -sampler pt", []string{"-tune", "pt"}},
		// Samplers.
		{"-sampler gibs", []string{"-sampler", `"gibs"`, "did you mean gibbs?"}},
		{"-sampler zzzzzz", []string{"-sampler", `"zzzzzz"`, "sardonics"}},
		{"-sampler ", []string{"-sampler"}},
		{"-sampler gibbs,,sw", []string{"-sampler"}},
		{"-sampler gibbs:order=diagonal", []string{"-sampler", "diagonal", "linear, chessboard"}},
		{"-sampler gibbs:ordre=linear", []string{"ordre", "did you mean order?"}},
		{"-sampler gibbs:order", []string{"order", "key=value"}},
		{"-order diagonal", []string{"-order", `"diagonal"`, "linear, chessboard, random"}},
		{"-order chesboard", []string{"did you mean chessboard?"}},
		{"-sampler sw -order linear", []string{"-order", "sw has none"}},
		{"-sampler gibbs:order=linear -order random", []string{"-order", "has none"}},
		{"-lattice pair.txt -sampler gibbs -order chessboard", []string{"-sampler", "chessboard", "not a lattice"}},
		{"-sampler gibbs,exchange", []string{"exchange keeps the number of spins up, gibbs does not", "give them in separate runs"}},
		{"-sampler gibbs,gibbs,gibbs,gibbs,gibbs,gibbs,gibbs", []string{"7 samplers", "at most 6"}},
		{"-lattice 4x4,5x5,6x6,7x7 -scan 1:2:3 -sampler gibbs,sw", []string{"4 lattices by 2 samplers", "at most 6"}},
		// Walks.
		{"-sampler sardonics:k=90", []string{"-sampler", "sardonics", "even number", "k=89-90"}},
		{"-sampler sardonics:k=auto -tune", []string{"-tune", "finds its lengths without tuning", "leave k out"}},
		{"-lattice 1 -boundary free -sampler sardonics:k=auto", []string{"2 units or more"}},
		{"-sampler sardonics:k=0-5", []string{"sardonics", "k is 0-5"}},
		{"-sampler sardonics:k=5-4", []string{"k is 5-4"}},
		{"-lattice 3x3 -sampler sardonics:k=5-10", []string{"sardonics", "10", "9"}},
		{"-sampler sardonics:k=1-5:gamma=NaN", []string{"gamma is NaN"}},
		{"-sampler sardonics:k=1-5:gamma=-1", []string{"gamma is -1"}},
		{"-beta 1e308 -sampler sardonics:k=1-5", []string{"-sampler", "sardonics"}},
		{"-lattice 4x4 -active 3 -sampler im:k=4", []string{"im", "4", "3"}},
		{"-lattice 4x4 -active 13 -sampler im:k=4", []string{"im", "4", "3"}},
		// Spins up.
		{"-active 5 -sampler gibbs", []string{"-active", "gibbs does not keep", "exchange or im"}},
		{"-sampler exchange -active 0", []string{"-active is 0", "1 … 3599"}},
		{"-sampler exchange -active 3600", []string{"-active is 3600", "1 … 3599"}},
		{"-sampler exchange -active -1", []string{"-active is -1"}},
		// Length.
		{"-moves 0", []string{"-moves is 0", "1 …"}},
		{"-moves -5", []string{"-moves is -5"}},
		{"-moves 99999999999999999", []string{"-moves is 99999999999999999"}},
		{"-moves 1.5", []string{`"1.5" for flag -moves`}},
		{"-moves 5 -seconds 5", []string{"-moves and -seconds", "give one"}},
		{"-seconds 0", []string{"-seconds is 0", "above 0"}},
		{"-seconds -1", []string{"-seconds is -1"}},
		{"-seconds NaN", []string{"-seconds is NaN"}},
		{"-seconds Inf", []string{"-seconds is +Inf"}},
		{"-burn -0.1", []string{"-burn is -0.1"}},
		{"-burn NaN", []string{"-burn is NaN"}},
		{"-burn 1000", []string{"-burn is 1000", "0 … 100"}},
		{"-seed -1", []string{`"-1" for flag -seed`}},
		// Gaps.
		{"-gap", []string{"-gap", "3600 spins", "too large", "at most 12"}},
		{"-lattice 2x2 -gap -sampler sw", []string{"-gap", "gibbs, metropolis and modified-metropolis"}},
		{"-lattice 2x2 -gap -sampler gibbs -out x.png", []string{"-gap", "-out", "leave one"}},
		{"-lattice 2x2 -gap -sampler gibbs -trace x.csv", []string{"-gap", "-trace"}},
		{"-lattice 2x2 -gap -sampler gibbs -moves 5", []string{"-gap", "-moves"}},
		// Files.
		{"-out x.gif", []string{"-out", `"x.gif"`, ".png"}},
		{"-out ", []string{"-out", ".png"}},
		{"-trace x.txt", []string{"-trace", ".csv"}},
		{"-latice 3x3", []string{"-latice", "did you mean -lattice?"}},
		{"60x60", []string{`"60x60"`, "flags"}},
	} {
		isingmc.Fails(t, cli.Usage, strings.Split(c.args, " "), c.want...)
	}
}

// TestBadFiles checks bad files: status 1.
func TestBadFiles(t *testing.T) {
	clitest.Isolate(t)
	clitest.Write(t, "there.png", "mine")
	clitest.Write(t, "there.csv", "mine")
	for _, c := range []struct {
		content string
		want    []string
	}{
		{"", []string{"no couplings"}},
		{"0 1 1\n1 1 1\n", []string{"line 2", "to itself"}},
		{"0 1 1\n1 0 2\n", []string{"line 2", "given on line 1"}},
		{"0 1 NaN\n", []string{"line 1", "finite"}},
		{"0 1 1e999\n", []string{"line 1", "finite"}},
		{"0 2 1\n", []string{"spin 1"}},
		{"0 -1 1\n", []string{"line 1", "-1"}},
		{"0 99999999 1\n", []string{"line 1", "99999999"}},
		{"a b c\n", []string{"line 1"}},
		{"0 1 1 1\n", []string{"line 1", "4 items"}},
	} {
		clitest.Write(t, "g.txt", c.content)
		isingmc.Fails(t, cli.Failed, []string{"-lattice", "g.txt", "-moves", "5"}, append(c.want, "g.txt")...)
	}
	isingmc.Fails(t, cli.Failed, []string{"-lattice", "."}, "-lattice")
	isingmc.Fails(t, cli.Failed, []string{"-out", "there.png"}, "-out", "there already")
	isingmc.Fails(t, cli.Failed, []string{"-trace", "there.csv"}, "-trace", "there already")
	isingmc.Fails(t, cli.Failed, []string{"-out", "no/x.png"}, "-out", "no folder no")
}

// TestBadCouplings checks files for -J that do not fit the lattice.
func TestBadCouplings(t *testing.T) {
	clitest.Isolate(t)
	for _, c := range []struct {
		content string
		want    []string
	}{
		{"0 1 1\n1 2 1\n2 3 1\n", []string{"couples 3 pairs of 4 spins", "lattice 2x2 has 4 pairs of 4"}},
		{"0 1 1\n1 2 1\n2 3 1\n3 1 1\n", []string{"does not couple spins 0 and 2", "lattice 2x2"}},
		{"0 1 1\n0 2 1\n2 3 1\n3 1 1\n2 0.5\n", []string{"field on spin 2"}},
		{"0 1 x\n", []string{"line 1"}},
	} {
		clitest.Write(t, "j.txt", c.content)
		isingmc.Fails(t, cli.Failed, []string{"-lattice", "2x2", "-boundary", "free", "-J", "j.txt", "-moves", "5"}, append(c.want, "-J", "j.txt")...)
	}
}

// TestCouplingsFromFile checks that a file with the couplings of -J 1 gives the same
// system. On a periodic side of 2 the pairs have two bonds.
func TestCouplingsFromFile(t *testing.T) {
	clitest.Isolate(t)
	clitest.Write(t, "j.txt", "0 1 2\n2 3 2\n4 5 2\n0 2 1\n2 4 1\n4 0 1\n1 3 1\n3 5 1\n5 1 1\n")
	const args = "-lattice 2x3 -sampler gibbs:order=chessboard -moves 200 "
	if file, one := result(t, args+"-J j.txt"), result(t, args+"-J 1"); *file.EnergyMean != *one.EnergyMean || *file.EnergyMean == 0 {
		t.Errorf("mean energy %v from the file, %v of -J 1", *file.EnergyMean, *one.EnergyMean)
	}
}

// TestGoodFile reads a system from a file.
func TestGoodFile(t *testing.T) {
	clitest.Isolate(t)
	clitest.Write(t, "ring.txt", "# a ring of three, and a field\n0 1 1\n1 2 1\n0 2 1\n0 0.5\n")
	r := result(t, "-lattice ring.txt -sampler gibbs -moves 2000 -beta 0.3")
	if r.Spins != 3 || r.Bonds != 3 || r.System != "ring.txt" {
		t.Errorf("%+v", r)
	}
	want := exactEnergy(t, "-lattice ring.txt -beta 0.3", 0)
	if z := (*r.EnergyMean - want) / *r.EnergyStdErr; z > 4 || z < -4 {
		t.Errorf("mean energy %v ± %v, want %v", *r.EnergyMean, *r.EnergyStdErr, want)
	}
}
