// A shop with values of all kinds and three goroutines; the argument says how it ends.
package main

import (
	"errors"
	"fmt"
	"os"
	"sort"
	"sync"
	"time"
)

type Priced interface{ Price() int }

type Item struct {
	Name  string
	price int
	tags  []string
}

func (item Item) Price() int { return item.price }

type Shop struct {
	items  []Item
	stock  map[string]int
	first  *Item
	best   Priced
	orders chan int
	mutex  sync.Mutex
}

var opened = 3

func (shop *Shop) Total() (total int, err error) {
	for _, item := range shop.items {
		total += item.Price()
	}
	return total, errors.New("no change") // total
}

func add(total int, item Item) int {
	sum := total + item.price // add
	return sum
}

func worker(number int, jobs <-chan int, done *sync.WaitGroup) {
	defer done.Done()
	for job := range jobs {
		fmt.Println("worker", number, "job", job) // job
	}
}

func recovered() (text string) {
	defer func() {
		if problem := recover(); problem != nil {
			text = fmt.Sprint("recovered: ", problem) // recovered
		}
	}()
	panic("soft plum") // soft
}

func crash(how string, shop *Shop) int {
	number := 5
	switch how {
	case "panic":
		panic("bad plum") // panic
	case "error":
		panic(errors.New("bad pear")) // error
	case "type":
		panic(Item{"rotten", 1, nil}) // type
	case "index":
		return shop.items[number].price // index
	case "nil":
		var nowhere *Item
		return nowhere.price // nil
	case "map":
		var prices map[string]int
		prices["fig"] = number // map
	case "divide":
		return number / len(os.Args[2:]) // divide
	case "fatal":
		var lock sync.Mutex
		lock.Lock()
		lock.Lock() // fatal
	case "throw":
		var lock sync.Mutex
		lock.Unlock() // throw
	case "library":
		sort.Slice(shop.items, func(i, j int) bool { panic("in library") }) // library
	case "recover":
		fmt.Println(recovered())
	case "tick":
		for number = 0; number < 600; number++ {
			fmt.Println("tick", number) // tick
			time.Sleep(100 * time.Millisecond)
		}
	case "sleep":
		time.Sleep(60 * time.Second) // sleep
	}
	return 0
}

func main() {
	shop := &Shop{items: []Item{{"pear", 2, nil}, {"fig", 3, []string{"soft", "sweet"}}}, stock: map[string]int{"fig": 7}}
	shop.first, shop.best, shop.orders = &shop.items[0], shop.items[1], make(chan int, 2)
	shop.orders <- 4
	total := 0
	for i, item := range shop.items {
		total = add(total, item) // loop
		fmt.Println("item", i, total)
	}
	all, err := shop.Total() // totals
	fmt.Println(all, err, opened)
	var done sync.WaitGroup
	jobs := make(chan int)
	for number := 0; number < 3; number++ {
		done.Add(1)
		go worker(number, jobs, &done)
	}
	jobs <- 1
	close(jobs) // close
	done.Wait()
	if len(os.Args) > 1 {
		fmt.Println(crash(os.Args[1], shop))
	}
	os.Exit(7)
}
