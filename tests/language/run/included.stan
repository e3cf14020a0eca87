// A program in pieces, one of them included twice.
functions {
#include included/twice.stan
}
#include "included/data.stan"
parameters {
  real mu;
}
model {
  mu ~ normal(0, 2);
#include <included/score.stan>
#include <included/score.stan>
}
