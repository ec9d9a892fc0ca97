// Two threads, of which each waits for a mutex that the other has. The main thread goes on when the kernel says so.
use std::fs;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

static TILL: Mutex<i64> = Mutex::new(0);
static SAFE: Mutex<i64> = Mutex::new(0);
static HOLDING: AtomicUsize = AtomicUsize::new(0);
static TIDS: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];

fn both(which: usize, first: &Mutex<i64>, second: &Mutex<i64>) -> i64 {
    let one: MutexGuard<i64> = first.lock().unwrap();
    let task = fs::read_link("/proc/thread-self").unwrap();
    HOLDING.fetch_add(1, Ordering::SeqCst);
    while HOLDING.load(Ordering::SeqCst) < 2 {}
    TIDS[which].store(task.file_name().unwrap().to_str().unwrap().parse().unwrap(), Ordering::SeqCst);
    let two = second.lock().unwrap();
    *one + *two
}

fn waits(tid: usize) -> bool {
    let call = fs::read_to_string(format!("/proc/self/task/{tid}/syscall")).unwrap_or_default();
    call.starts_with(|first: char| first.is_ascii_digit())
}

fn main() {
    let started = |name: &str, which, first: &'static Mutex<i64>, second: &'static Mutex<i64>| {
        thread::Builder::new().name(name.into()).spawn(move || both(which, first, second)).unwrap()
    };
    let threads = [started("teller", 0, &TILL, &SAFE), started("clerk", 1, &SAFE, &TILL)];
    while !TIDS.iter().all(|tid| waits(tid.load(Ordering::SeqCst))) {
        thread::sleep(Duration::from_millis(1));
    }
    println!("all wait"); // all wait
    for each in threads {
        each.join().unwrap();
    }
}
