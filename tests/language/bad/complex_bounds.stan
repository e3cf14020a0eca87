parameters {
  complex_vector<lower=0>[3] z;
}
