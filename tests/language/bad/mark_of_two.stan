// a mark binds the statement it follows, not one inside a block before it
data { real y; }
parameters { real a; }
model {
  { a ~ normal(0, 1); y ~ normal(a, 1); } // @prior
}
