//go:build race

package predict_test

// raced says that the race detector slows everything down tenfold. Packages
// below the purity line have nothing to race with: the longest runs are left to
// tests without it.
const raced = true
