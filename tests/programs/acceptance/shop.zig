// Adds up what is in a shop, reads a line, and exits with 7; with `crash` it crashes after the loop, with `sleep` it sleeps.
const std = @import("std");

const Item = struct {
    name: []const u8,
    price: i32,
};

fn add(total: i32, item: Item) i32 {
    const sum = total + item.price; // add
    return sum; // return
}

pub fn main(init: std.process.Init) !u8 {
    const args = try init.minimal.args.toSlice(init.arena.allocator());
    var buffer: [80]u8 = undefined;
    var writer = std.Io.File.stdout().writer(init.io, &buffer);
    var shelf = [_]Item{ .{ .name = "pear", .price = 2 }, .{ .name = "fig", .price = 3 }, .{ .name = "kiwi", .price = 4 } };
    const items: []Item = &shelf;
    var total: i32 = 0;
    var i: usize = 0;
    while (i < 3) : (i += 1) {
        const item = &items[i];
        total = add(total, item.*); // loop
        try writer.interface.print("item {d} {d}\n", .{ i, total }); // print
        try writer.interface.flush();
    }
    if (args.len > 1 and std.mem.eql(u8, args[1], "sleep"))
        try init.io.sleep(.fromSeconds(60), .awake);
    if (args.len > 1)
        total = items[i].price; // crash
    var line: [80]u8 = undefined;
    var reader = std.Io.File.stdin().reader(init.io, &line);
    const text = reader.interface.takeDelimiterExclusive('\n') catch return 1;
    std.debug.print("read {s}\n", .{text});
    return 7;
}
