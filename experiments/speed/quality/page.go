package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"gorbm/experiments/internal/claims"
)

// mean returns the mean of a contestant's seeds after so many seconds.
func mean(t *claims.Table, panel, name string, seconds float64) (y float64, seeds int) {
	all := t.At(panel, name, seconds)
	for _, x := range all {
		y += x / float64(len(all))
	}
	return y, len(all)
}

// stdErr returns the standard error of a contestant's mean, of log Z alone.
func stdErr(t *claims.Table, name string, seconds float64) float64 {
	square, all := 0.0, t.At(stdErrPanel, name, seconds)
	for _, x := range all {
		square += x * x
	}
	return math.Sqrt(square) / float64(len(all))
}

// missing returns the peers without a run of so many seconds.
func missing(t *claims.Table, seconds float64) (peers []string) {
	for _, peer := range contestants[1:] {
		if len(t.At(secondsPanel, peer, seconds)) == 0 {
			peers = append(peers, peer)
		}
	}
	return peers
}

// best returns the best peer after so many seconds.
func best(t *claims.Table, seconds float64) (name string, y float64) {
	for _, peer := range contestants[1:] {
		if x, seeds := mean(t, testPanel, peer, seconds); seeds > 0 && (name == "" || x > y) {
			name, y = peer, x
		}
	}
	return name, y
}

func qualityClaims(t *claims.Table) (all []claims.Claim) {
	for _, seconds := range t.Xs(testPanel, gorbm) {
		own, seeds := mean(t, testPanel, gorbm, seconds)
		if peer, y := best(t, seconds); peer != "" {
			a, b := stdErr(t, gorbm, seconds), stdErr(t, peer, seconds)
			c := claims.Holds(fmt.Sprintf("after %v s gorbm has a better model than the best peer", seconds), own-y > claims.Errors*math.Hypot(a, b), own-y,
				"%.2f ± %.2f nats, %s, against %.2f ± %.2f of %s, one seed; %d standard errors needed", own, a, seedsOf(seeds), y, b, peer, claims.Errors)
			if without := missing(t, seconds); len(without) > 0 {
				c.Verdict = claims.Open
				c.Statistic += "; no run yet of " + strings.Join(without, ", ")
			}
			all = append(all, c)
		}
	}
	return all
}

func seedsOf(n int) string {
	if n == 1 {
		return "one seed"
	}
	return fmt.Sprintf("mean of %d seeds", n)
}

func drawQuality(w io.Writer, t *claims.Table) error {
	panel := claims.Panel{Name: testPanel, Title: "MNIST, 784 × 500 units", X: "processor seconds allowed", Y: "test log-likelihood / nats", Dots: true}
	return claims.Curves(w, t, 1, []claims.Panel{panel}, contestants)
}

func qualityNotes(t *claims.Table) string {
	var b strings.Builder
	b.WriteString("Mean log-likelihood of the 10000 test rows, in nats, by three estimates of log Z. AIS is too low for log Z on average, so its likelihood is too high; the reverse of AIS is the other way round. " +
		"± is the standard error of log Z. Seconds are processor time of updates alone. A run of gorbm that took less than its time is short of updates: what a step takes was measured while other programs slowed it down.\n\n" +
		"| program | seconds | updates | reverse AIS | Bennett | AIS | seeds |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, seconds := range t.Xs(testPanel, gorbm) {
		for _, name := range contestants {
			used, seeds := mean(t, secondsPanel, name, seconds)
			if seeds == 0 {
				continue
			}
			x := func(panel string) string {
				y, n := mean(t, panel, name, seconds)
				if n == 0 {
					return "none that is possible"
				}
				return fmt.Sprintf("%.2f", y)
			}
			updates, _ := mean(t, updatesPanel, name, seconds)
			bennett := x(testPanel)
			if _, n := mean(t, testPanel, name, seconds); n > 0 {
				bennett += fmt.Sprintf(" ± %.2f", stdErr(t, name, seconds))
			}
			fmt.Fprintf(&b, "| %s | %.0f | %.0f | %s | %s | %s | %d |\n", name, used, updates, x(lowPanel), bennett, x(highPanel), seeds)
		}
	}
	return b.String()
}
