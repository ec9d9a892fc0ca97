//! A shop that is summed up: what Rust's debuggers show of it.

use std::env;
use std::process;

struct Item {
    name: String,
    price: i64,
    discount: Option<i64>,
}

fn add(total: i64, item: &Item) -> i64 {
    let sum = total + item.price - item.discount.unwrap_or(0); // sum
    sum // add
}

fn total_of(items: &Vec<Item>, label: &str) -> i64 {
    let mut total = 0;
    for (i, item) in items.iter().enumerate() {
        total = add(total, item); // loop
        if i > 9 {
            println!("{label}");
        }
    }
    total
}

fn sell(items: &[Item], index: usize) -> i64 {
    items[index].price // index
}

fn refuse(name: &str) {
    panic!("bad {}", name); // panic
}

fn main() {
    let items = vec![ // main
        Item { name: String::from("pear"), price: 2, discount: None },
        Item { name: String::from("fig"), price: 5, discount: Some(1) },
        Item { name: String::from("plum"), price: 4, discount: None },
    ];
    let total = total_of(&items, "all");
    println!("total={total}"); // print
    match env::args().nth(1).as_deref() {
        Some("panic") => refuse("plum"),
        Some("index") => println!("{}", sell(&items, 7)),
        Some("caught") => {
            let caught = std::panic::catch_unwind(|| refuse("fig"));
            println!("caught={} {}", caught.is_err(), items[0].name);
        }
        _ => {}
    }
    process::exit(7);
}
