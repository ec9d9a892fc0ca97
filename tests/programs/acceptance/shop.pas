{ Adds up what is in a shop, reads a line, and exits with 7; with `crash` it crashes after the loop, with `sleep` it sleeps. }
program shop;

{$mode objfpc}

uses
  SysUtils;

type
  TItem = record
    name: string[8];
    price: longint;
  end;

function add(total: longint; const item: TItem): longint;
var
  sum: longint;
begin
  sum := total + item.price; // add
  add := sum; // return
end;

procedure main;
var
  items: array[0..2] of TItem;
  total, i: longint;
  line: string;
begin
  items[0].name := 'pear';
  items[0].price := 2;
  items[1].name := 'fig';
  items[1].price := 3;
  items[2].name := 'kiwi';
  items[2].price := 4;
  total := 0;
  for i := 0 to 2 do
  begin
    total := add(total, items[i]); // loop
    writeln('item ', i, ' ', total); // print
    flush(output);
  end;
  if ParamStr(1) = 'sleep' then
    Sleep(60000);
  if ParamCount > 0 then
    total := total div (ParamCount - 1); // crash
  if eof then
    halt(1);
  readln(line);
  writeln(stderr, 'read ', line);
  halt(7);
end;

begin
  main;
end.
