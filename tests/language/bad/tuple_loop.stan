transformed data { array[2] tuple(int, real) ts = {(1, 2.0), (2, 3.0)}; for (t in ts) t.1 = 3; }
