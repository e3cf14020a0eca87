transformed data {
  int k = !2i;
}
