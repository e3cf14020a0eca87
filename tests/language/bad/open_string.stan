model { print("abc); }
