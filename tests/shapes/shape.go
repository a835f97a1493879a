// A program whose profile is known: 70, 20 and 10 % of the CPU time of its two threads are in three
// functions. `shape SECONDS` waits for a line, works, prints the shares that it measured of itself,
// and ends when its standard input does. How long a function goes on is drawn, so that no sampler of
// a fixed period is in step with it.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"
	"unsafe"
)

const (
	threads       = 2
	turnsMax      = 40_000
	drawFactor    = 6_364_136_223_846_793_005
	threadCPUTime = 3 // CLOCK_THREAD_CPUTIME_ID
)

var (
	percent   = [3]int64{70, 20, 10}
	functions = [3]func(value, turns uint64) uint64{seventy, twenty, ten}
)

func main() {
	input := bufio.NewReader(os.Stdin)
	input.ReadString('\n')
	seconds, err := strconv.ParseFloat(os.Args[1], 64)
	if err != nil {
		panic(err)
	}
	told := make(chan [3]int64)
	for range threads {
		go func() { told <- onOneThread(int64(seconds * 1e9)) }()
	}
	var hadNs [3]int64
	for range threads {
		for number, ns := range <-told {
			hadNs[number] += ns
		}
	}
	sum := float64(total(hadNs))
	fmt.Printf("[%g, %g, %g]\n", float64(hadNs[0])/sum, float64(hadNs[1])/sum, float64(hadNs[2])/sum)
	input.ReadString('\n')
}

func onOneThread(lifeNs int64) (hadNs [3]int64) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	value, drawn := uint64(1), uint64(threadCPUNs())
	nowNs := threadCPUNs()
	for total(hadNs) < lifeNs {
		next := furthestBehind(hadNs)
		drawn = drawn*drawFactor + 1
		value = functions[next](value, (drawn>>32)%turnsMax)
		afterNs := threadCPUNs()
		hadNs[next] += afterNs - nowNs
		nowNs = afterNs
	}
	hadNs[0] += int64(value & 1)
	return hadNs
}

func total(hadNs [3]int64) int64 {
	return hadNs[0] + hadNs[1] + hadNs[2]
}

func furthestBehind(hadNs [3]int64) (behind int) {
	for number := range hadNs {
		if hadNs[number]/percent[number] < hadNs[behind]/percent[behind] {
			behind = number
		}
	}
	return behind
}

func threadCPUNs() int64 {
	var now syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, threadCPUTime, uintptr(unsafe.Pointer(&now)), 0)
	if errno != 0 {
		panic(errno)
	}
	return now.Nano()
}

//go:noinline
func seventy(value, turns uint64) uint64 {
	for turn := range turns {
		value = value<<7 ^ value>>57 ^ turn
	}
	return value
}

//go:noinline
func twenty(value, turns uint64) uint64 {
	for turn := range turns {
		value = value*31 + turn>>3
	}
	return value
}

//go:noinline
func ten(value, turns uint64) uint64 {
	for turn := range turns {
		value = value>>5 - turn
	}
	return value
}
