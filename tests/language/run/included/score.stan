// One more of the same.
target += normal_lpdf(y | twice(mu), 1);