model { break; }
