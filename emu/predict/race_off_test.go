//go:build !race

package predict_test

const raced = false
