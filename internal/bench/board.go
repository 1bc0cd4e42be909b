// The table of medians and ratios.

package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// A board collects samples. Rows keep the order of their first sample.
type board struct {
	rows   []string
	units  map[string]string
	rates  map[[2]string][]float64 // by row and contestant
	counts []string                // one line of loopback's counts for each round
}

func (b *board) add(contestant string, samples []sample) {
	if b.rates == nil {
		b.rates, b.units = map[[2]string][]float64{}, map[string]string{}
	}
	for _, s := range samples {
		if b.units[s.row] == "" {
			b.units[s.row] = s.unit
			b.rows = append(b.rows, s.row)
		}
		key := [2]string{s.row, contestant}
		b.rates[key] = append(b.rates[key], s.rate)
	}
}

func (b *board) count(line string) { b.counts = append(b.counts, line) }

func (b *board) median(row, contestant string) float64 {
	rates := slices.Sorted(slices.Values(b.rates[[2]string{row, contestant}]))
	middle := len(rates) / 2
	if len(rates)%2 == 0 {
		return (rates[middle-1] + rates[middle]) / 2
	}
	return rates[middle]
}

func (b *board) print(out io.Writer) {
	if len(b.rows) == 0 {
		return
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "\t%s\t%s\t%s\t\tof loopback\ttarget\t\tof tmpfs\t\n", oursName, loopbackName, tmpfsName)
	for _, row := range b.rows {
		mine, loop, tmp := b.median(row, oursName), b.median(row, loopbackName), b.median(row, tmpfsName)
		target, mark := judge(row, mine/loop)
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%.2f\t%s\t%s\t%.3f\t\n",
			row, digits(mine), digits(loop), digits(tmp), b.units[row], mine/loop, target, mark, mine/tmp)
	}
	t.Flush()
	fmt.Fprintf(out, "\nmedians of %d; cold: FUSE's caches dropped first, checked by cachestat; tmpfs is never cold\n",
		len(b.rates[[2]string{b.rows[0], oursName}]))
	for n, line := range b.counts {
		fmt.Fprintf(out, "reached the loopback daemon in round %d: %s", n+1, line)
	}
}

func judge(row string, ratio float64) (target, mark string) {
	want, ok := targets[row]
	if !ok {
		return "", ""
	}
	return fmt.Sprintf("≥ %.1f", want), passMark(ratio >= want)
}

func digits(rate float64) string {
	if rate < 100 {
		return fmt.Sprintf("%.2f", rate)
	}
	return fmt.Sprintf("%.0f", rate)
}
