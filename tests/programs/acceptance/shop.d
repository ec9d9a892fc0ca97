// Adds up what is in a shop, reads a line, and exits with 7; with `crash` it crashes after the loop, with `sleep` it sleeps.
module shop;

import core.thread : Thread;
import core.time : seconds;
import std.stdio;

struct Item
{
    string name;
    int price;
}

int add(int total, ref const Item item)
{
    int sum = total + item.price; // add
    return sum; // return
}

int main(string[] args)
{
    Item[] items = [Item("pear", 2), Item("fig", 3), Item("kiwi", 4)];
    int total = 0;
    for (int i = 0; i < 3; i++)
    {
        total = add(total, items[i]); // loop
        writeln("item ", i, " ", total); // print
        stdout.flush();
    }
    if (args.length > 1 && args[1] == "sleep")
        Thread.sleep(60.seconds);
    if (args.length > 1)
        *cast(int*) null = total; // crash
    string line = readln();
    if (line is null)
        return 1;
    stderr.write("read ", line);
    return 7;
}
