package data

import (
	"path/filepath"
	"strings"
)

// conversions has for the endings of files that are not read a line of Python that converts IN to OUT, whose
// ending is given. The longest ending that fits counts.
var conversions = []struct{ ending, out, line string }{
	{".mat", ".npz", "import numpy, scipy.io; numpy.savez(OUT, **{k: v for k, v in scipy.io.loadmat(IN).items() if k[0] != '_'})"},
	{".h5", ".npz", "import numpy, h5py; numpy.savez(OUT, **{k: v[()] for k, v in h5py.File(IN).items()})"},
	{".hdf5", ".npz", "import numpy, h5py; numpy.savez(OUT, **{k: v[()] for k, v in h5py.File(IN).items()})"},
	{".parquet", ".csv", "import pandas; pandas.read_parquet(IN).to_csv(OUT, index=False)"},
	{".feather", ".csv", "import pandas; pandas.read_feather(IN).to_csv(OUT, index=False)"},
	{".xlsx", ".csv", "import pandas; pandas.read_excel(IN).to_csv(OUT, index=False)"},
	{".jsonl", ".csv", "import pandas; pandas.read_json(IN, lines=True).to_csv(OUT, index=False)"},
	{".arff", ".csv", "import pandas; from scipy.io.arff import loadarff; d, m = loadarff(IN); pandas.DataFrame([[v.decode() if isinstance(v, bytes) else v for v in r] for r in d], columns=m.names()).to_csv(OUT, index=False)"},
	{".pkl", ".csv", "import pandas; pandas.DataFrame(pandas.read_pickle(IN)).to_csv(OUT, index=False)"},
	{".pkl.gz", ".npz", "import numpy, pickle, gzip; (x, y), *_, (s, t) = pickle.load(gzip.open(IN), encoding='latin1'); numpy.savez(OUT, x=x, y=y, x_test=s, y_test=t)"},
	{".pt", ".npy", "import numpy, torch; numpy.save(OUT, torch.load(IN).numpy())"},
	{".mtx", ".npz", "import scipy.io, scipy.sparse; scipy.sparse.save_npz(OUT, scipy.io.mmread(IN).tocsr())"},
	{".svm", ".npz", libsvm}, {".libsvm", ".npz", libsvm}, {".svmlight", ".npz", libsvm},
	{".aln", ".fasta", "from Bio import SeqIO; SeqIO.convert(IN, 'clustal', OUT, 'fasta')"},
	{".phy", ".fasta", "from Bio import SeqIO; SeqIO.convert(IN, 'phylip', OUT, 'fasta')"},
}

// libsvm writes the rows of a text of labels and column:value pairs, and their labels.
const libsvm = "import numpy, sklearn.datasets; x, y = sklearn.datasets.load_svmlight_file(IN); numpy.savez(OUT, x=x.toarray(), y=y)"

// conversion returns a command that converts the file at path into one that Load reads, or "" if none is
// known.
func conversion(path string) string {
	command, longest := "", 0
	for _, c := range conversions {
		if n := len(c.ending); n > longest && hasEnding(path, []string{c.ending}) {
			out := filepath.Base(path[:len(path)-n] + c.out)
			quoted := func(s string) string { return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'" }
			line := strings.NewReplacer("IN", quoted(path), "OUT", quoted(out)).Replace(c.line)
			command, longest = `python3 -c "`+strings.NewReplacer("$", `\$`, "`", "\\`").Replace(line)+`"`, n
		}
	}
	return command
}
