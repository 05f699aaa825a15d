package emu

import (
	"fmt"

	"github.com/goccy/go-yaml/ast"
)

// What a cluster file begins with.
const (
	APIVersion  = "railyard/v1alpha1"
	KindCluster = "Cluster"
)

// ParseCluster reads a cluster file:
//
//	apiVersion: railyard/v1alpha1
//	kind: Cluster
//	metadata: {name: two-pods}
//	spec:
//	  nodes:
//	    - {count: 8, system: dgx-h100, gpus: 8, nics: 8}
//	  fabric: {kind: rail-optimized, link: ndr, oversubscription: 1}
//	  seed: 1
//	  machines: …
//
// Hosts of TPUs say how ICI joins them: {count: 32, system: tpu-v4, torus: [4, 4, 8],
// wrap: xyz, cubes: [0, 7], dark: [x5, z0@7]} (Slice).
//
// A fabric of kind custom lists its switches and links, and nodes say where they
// hang (load_custom.go).
//
// name is what errors call the file. All problems are reported at once, each
// with its line: the error joins values of type *Problem. Names of systems,
// fabrics and links are taken as they are; LoadCluster looks them up.
func ParseCluster(name string, data []byte) (Cluster, error) {
	return LoadCluster(name, data, Known{})
}

// LoadCluster is ParseCluster, and checks against known what the file names.
func LoadCluster(name string, data []byte, known Known) (Cluster, error) {
	r := newReader(name)
	var c Cluster
	if root := r.document(data); root != nil {
		r.cluster(root, &c, known)
	}
	if err := r.problems.join(); err != nil {
		return Cluster{}, err
	}
	return c, nil
}

// cluster reads a document. One that says it is something else is not looked
// into: complaints about its keys would be about the wrong thing.
func (r *reader) cluster(root ast.Node, c *Cluster, known Known) {
	if kind := peek(root, "kind"); kind != "" && kind != KindCluster {
		r.add(root, "kind", fmt.Sprintf("%q is not a cluster; a cluster file says %s", kind, KindCluster))
		return
	}
	r.mapping(root, "", []key{
		{name: "apiVersion", required: true, read: r.constant(APIVersion)},
		{name: "kind", required: true, read: r.constant(KindCluster)},
		{name: "metadata", read: func(path string, n ast.Node) {
			r.mapping(n, path, []key{{name: "name", read: r.text(&c.Name)}})
		}},
		{name: "spec", required: true, read: func(path string, n ast.Node) { r.spec(path, n, c) }},
	})
	r.addAll(c.check(known))
}

func (r *reader) spec(path string, n ast.Node, c *Cluster) {
	r.mapping(n, path, []key{
		{name: "nodes", required: true, read: func(path string, n ast.Node) { r.groups(path, n, c) }},
		{name: "machines", read: func(path string, n ast.Node) { r.machines(path, n, c) }},
		{name: "fabric", read: func(path string, n ast.Node) { r.fabric(path, n, &c.Fabric) }},
		{name: "seed", read: r.seed(&c.Seed)},
	})
}

func (r *reader) groups(path string, n ast.Node, c *Cluster) {
	r.sequence(n, path, func(path string, n ast.Node) {
		var g Group
		r.mapping(n, path, []key{
			{name: "count", required: true, read: r.count(&g.Count, MaxNodes)},
			{name: "system", read: r.text(&g.System)},
			{name: "machine", read: r.text(&g.Machine)},
			{name: "gpus", read: r.count(&g.GPUs, maxDevices)},
			{name: "nics", read: r.count(&g.NICs, maxDevices)},
			{name: "gdr", read: r.truth(func(yes bool) { g.NoGDR = !yes })},
			{name: "switches", read: r.texts(&g.Switches)},
			{name: "torus", read: list(r, &g.Torus, func(path string, n ast.Node, d *int) { r.count(d, MaxNodes)(path, n) })},
			{name: "wrap", read: r.text(&g.Wrap)},
			{name: "cubes", read: list(r, &g.Cubes, func(path string, n ast.Node, k *int) { r.from0(k)(path, n) })},
			{name: "dark", read: r.texts(&g.Dark)},
		})
		if g.System == "" && g.Machine == "" && !r.unread(path+".system") && !r.unread(path+".machine") {
			r.add(n, path+".system", "is missing; name a system of the catalog, or with machine: one of spec.machines")
		}
		c.Groups = append(c.Groups, g)
	})
}

func (r *reader) fabric(path string, n ast.Node, f *Fabric) {
	r.mapping(n, path, append([]key{
		{name: "kind", read: r.text(&f.Kind)},
		{name: "link", read: r.text(&f.Link)},
		{name: "oversubscription", read: r.count(&f.Oversubscription, maxOversubscription)},
		{name: "routing", read: r.text(&f.Routing)},
		{name: "pxn", read: r.truth(func(yes bool) { f.PXN = map[bool]PXN{true: PXNOn, false: PXNOff}[yes] })},
		{name: "crossNic", read: r.crossNIC(&f.CrossNIC)},
		{name: "unit", read: r.count(&f.Unit, MaxNodes)},
		{name: "planes", read: r.count(&f.Planes, maxPlanes)},
		{name: "dims", read: list(r, &f.Dims, func(path string, n ast.Node, d *int) { r.count(d, MaxNodes)(path, n) })},
		{name: "hostsPerSwitch", read: r.count(&f.HostsPerSwitch, maxDevices)},
	}, r.customKeys(f)...))
}
