parameters { vector[2] a; }
model {
  a ~ normal(0, 1);
  target += sum(student_t_qf(a, 3, 0, 1));
}
