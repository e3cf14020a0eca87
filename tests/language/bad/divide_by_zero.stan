transformed data { int k = 3 / 0; }
