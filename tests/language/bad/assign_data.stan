data { real y; }
model {
  y = 3;
}
