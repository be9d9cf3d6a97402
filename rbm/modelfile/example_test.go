package modelfile_test

import (
	"fmt"
	"os"
	"path/filepath"

	"gorbm/rbm"
	"gorbm/rbm/modelfile"
)

// A model is written with its metadata and read back.
func Example() {
	dir, err := os.MkdirTemp("", "model")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	m := rbm.New(4, 3, 2, rbm.Softmax) // two inputs and a label of two classes, three hidden units
	m.Randomize(0.1, rbm.NewKey(1))
	path := filepath.Join(dir, "model.safetensors")
	if err := modelfile.Write(path, m, modelfile.About{ClassNames: []string{"cat", "dog"}}); err != nil {
		fmt.Println(err)
		return
	}
	read, about, err := modelfile.Read(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(read.Visible(), "visible and", read.Hidden(), "hidden units; classes", about.ClassNames)
	fmt.Println("the same weights:", read.Weight(3, 2) == m.Weight(3, 2))
	// Output:
	// 4 visible and 3 hidden units; classes [cat dog]
	// the same weights: true
}
