package price

func Total(prices []int) int {
	total := 0
	for _, price := range prices[1:] {
		total += price
	}
	return total
}
