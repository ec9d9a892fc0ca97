--  Adds up what is in a shop, reads a line, and exits with 7; with `crash` it crashes after the loop, with `sleep` it sleeps.
with Ada.Command_Line; use Ada.Command_Line;
with Ada.Text_IO;      use Ada.Text_IO;

procedure Shop_Main is
   type Item is record
      Name  : String (1 .. 4);
      Price : Integer;
   end record;
   type Item_List is array (0 .. 2) of Item;
   Items : constant Item_List := (("pear", 2), ("figs", 3), ("kiwi", 4));
   Total : Integer            := 0;

   function Add (Total : Integer; Item : Shop_Main.Item) return Integer is
      Sum : Integer;
   begin
      Sum := Total + Item.Price; -- add
      return Sum; -- return
   end Add;

begin
   for I in Items'Range loop
      Total := Add (Total, Items (I)); -- loop
      Put_Line ("item" & Integer'Image (I) & Integer'Image (Total)); -- print
      Flush;
   end loop;
   if Argument_Count > 0 and then Argument (1) = "sleep" then
      delay 60.0;
   end if;
   if Argument_Count > 0 then
      raise Constraint_Error with "bad plum"; -- crash
   end if;
   declare
      Line : constant String := Get_Line;
   begin
      Put_Line (Standard_Error, "read " & Line);
      Set_Exit_Status (7);
   end;
end Shop_Main;
