functions { void f(real x) { print(x); } }
transformed data { print("f: ", f(1)); }
