model { real x = 1 § 2; }
