package price

import "testing"

func TestTotal(t *testing.T) {
	prices := []int{1, 2, 3}
	got := Total(prices)
	if got != 6 {
		t.Errorf("Total = %d, want 6", got)
	}
}

func TestOne(t *testing.T) {
	t.Run("a few", func(t *testing.T) {
		if got := Total([]int{0, 2}); got != 2 {
			t.Fatalf("got %d", got)
		}
	})
}

func BenchmarkTotal(b *testing.B) {
	for i := 0; i < b.N; i++ {
		Total([]int{1, 2})
	}
}
