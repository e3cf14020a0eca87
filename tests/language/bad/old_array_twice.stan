data { array[3] real x[2]; }
