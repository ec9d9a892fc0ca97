package main

import "fmt"

func main() {
	total := 40
	total += 2
	fmt.Println("total", total) // stop: total is 42
}
