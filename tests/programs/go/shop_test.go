package main

import "testing"

func TestAdd(t *testing.T) {
	if got := add(1, Item{"fig", 2, nil}); got != 3 { // asserted
		t.Errorf("got %d", got)
	}
}

func TestOther(t *testing.T) { t.Log("other") }
