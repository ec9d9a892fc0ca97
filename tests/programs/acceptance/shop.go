// Adds up what is in a shop, reads a line, and exits with 7; with `crash` it crashes after the loop, with `sleep` it sleeps.
package main

import (
	"bufio"
	"fmt"
	"os"
	"time"
)

type Item struct {
	name  string
	price int
}

func add(total int, item Item) int {
	sum := total + item.price // add
	return sum                // return
}

func main() {
	items := []Item{{"pear", 2}, {"fig", 3}, {"kiwi", 4}}
	total := 0
	for i := 0; i < 3; i++ {
		total = add(total, items[i])   // loop
		fmt.Println("item", i, total) // print
	}
	if len(os.Args) > 1 && os.Args[1] == "sleep" {
		time.Sleep(60 * time.Second)
	}
	if len(os.Args) > 1 {
		panic("bad plum") // crash
	}
	line, err := bufio.NewReader(os.Stdin).ReadString('\n') // read
	if err != nil {
		os.Exit(1)
	}
	fmt.Fprint(os.Stderr, "read ", line)
	os.Exit(7)
}
