// A map of more entries than delve loads, and a loop.
package main

import "fmt"

type Point struct{ x, y int }

func main() {
	names := map[int]string{}
	points := map[Point]Point{}
	for i := 0; i < 100; i++ {
		names[i] = fmt.Sprintf("a long text for the entry of number %d", i)
		points[Point{i % 3, 0}] = Point{0, i}
	}
	for i := 0; i < 4; i++ {
		fmt.Println("turn", i) // turn
	}
	fmt.Println(len(names), len(points))
}
