data { int N; array[N] int g; }
parameters { vector[N] phi; }
model {
  target += -0.5 * dot_self(phi[g]);
}
