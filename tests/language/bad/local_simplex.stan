model { simplex[3] p; }
