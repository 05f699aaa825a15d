package draw

// Rooms within a server, in pixels.
const (
	socketGap = 30 // from one socket to the next
	planeRoom = 64 // from GPUs to NVSwitch planes
	planeW    = 92
	planeH    = 26
	nameRoom  = 28 // for the server's name
	moreW     = 150
	moreH     = 150
)

// parts are what stands in a frame: devices of its own, and frames.
func (l *layout) parts(i int) (nics, gpus, planes, frames []int) {
	for _, k := range l.kids[i+1] {
		switch l.Boxes[k].Kind {
		case NIC:
			nics = append(nics, k)
		case GPU:
			gpus = append(gpus, k)
		case Plane:
			planes = append(planes, k)
		default:
			frames = append(frames, k)
		}
	}
	return nics, gpus, planes, frames
}

// frameWidth returns how wide a frame must be, and gives frames in it their
// widths.
func (l *layout) frameWidth(i, depth int) int {
	b := &l.Boxes[i]
	if b.Kind == More {
		return max(moreW, width(b.Detail, fontS)+2*pad)
	}
	nics, gpus, planes, frames := l.parts(i)
	n := max(len(nics), len(gpus))
	w := n * (boxW + gap)
	for _, f := range frames {
		l.at[f].w = l.frameWidth(f, depth+1)
		w += l.at[f].w + l.after(f)
	}
	w += 2 * pad
	if len(frames) > 0 {
		w -= l.after(frames[len(frames)-1])
	} else {
		w -= gap
	}
	if depth > 0 && len(frames) > 0 {
		w += strip
	}
	if len(frames) == 0 {
		w = max(w, width(b.Label, fontM)+2*pad, width(b.Detail, fontS)+2*pad)
	}
	w = max(w, len(planes)*(planeW+gap)+2*pad)
	if len(planes) == 1 {
		w = max(w, width(l.Boxes[planes[0]].Label, fontM)+2*gap+2*pad)
	}
	if depth == 0 {
		w = max(w, width(b.Label+" · "+b.Detail, fontL)+2*pad)
	}
	return w
}

// after returns the room right of a frame: that of a socket shows its links.
func (l *layout) after(frame int) int {
	if b := &l.Boxes[frame]; b.Kind == Socket && l.Boxes[b.Parent].Kind == Server {
		return socketGap
	}
	return gap
}

// depth returns how many frames lie within each other, and whether there are
// NICs in them.
func (l *layout) depth(i int) (frames int, nics bool) {
	own, _, _, within := l.parts(i)
	nics = len(own) > 0
	for _, f := range within {
		d, n := l.depth(f)
		frames, nics = max(frames, d+1), nics || n
	}
	return frames, nics
}

// inside is the layout of one server: heights that all its frames share.
type inside struct {
	*layout
	server     int
	depth      int
	nicY, gpuY int
}

func (l *layout) server(i, x, y int) {
	if l.Boxes[i].Kind == More {
		l.at[i] = rect{x, y, l.at[i].w, moreH}
		return
	}
	in := &inside{layout: l, server: i}
	depth, nics := l.depth(i)
	in.depth = depth
	in.nicY = y + (depth+1)*pad
	in.gpuY = in.nicY + between
	if nics {
		in.gpuY += boxH
	}
	in.frame(i, x, y, 0)
	end := in.gpuY + boxH + (depth+1)*pad
	end = in.planes(i, end)
	l.at[i].h = end + nameRoom - y
}

// frame places a frame at x, and all that is in it.
func (in *inside) frame(i, x, top, depth int) {
	r := &in.at[i]
	r.x, r.y = x, top+depth*pad
	r.h = in.gpuY + boxH + (in.depth-depth+1)*pad - r.y
	nics, gpus, _, frames := in.parts(i)
	x += pad
	if depth > 0 && len(frames) > 0 {
		in.sideways(i)
		x += strip
	}
	free := r.w - 2*pad - max(len(nics), len(gpus))*(boxW+gap) + gap
	if len(frames) > 0 {
		free = 0
	}
	wide := max(len(nics), len(gpus))
	in.row(nics, x+free/2+(wide-len(nics))*(boxW+gap)/2, in.nicY)
	in.row(gpus, x+free/2+(wide-len(gpus))*(boxW+gap)/2, in.gpuY)
	if depth > 0 && len(frames) == 0 {
		in.name(i)
	}
	x += max(len(nics), len(gpus)) * (boxW + gap)
	for _, f := range frames {
		in.frame(f, x, top, depth+1)
		x += in.at[f].w + in.after(f)
	}
}

func (in *inside) row(devices []int, x, y int) {
	for _, d := range devices {
		in.at[d] = rect{x, y, boxW, boxH}
		in.label(d, fontM)
		x += boxW + gap
	}
}

// name puts a frame's name between its NICs and GPUs.
func (in *inside) name(i int) {
	b, y := &in.Boxes[i], in.gpuY-between/2
	if b.Detail != "" {
		in.texts = append(in.texts, text{x: in.at[i].mid(), y: y + 7, size: fontS, s: b.Detail})
		y -= 6
	}
	in.texts = append(in.texts, text{x: in.at[i].mid(), y: y, size: fontM, s: b.Label})
}

// sideways puts a frame's name at its left, on its side, shortened where it is
// too long.
func (in *inside) sideways(i int) {
	b, r := &in.Boxes[i], in.at[i]
	s := b.Label
	if long := s + " · " + b.Detail; b.Detail != "" && width(long, fontM) <= r.h-pad {
		s = long
	}
	in.texts = append(in.texts, text{x: r.x + pad/2 + strip/2, y: r.y + r.h/2, size: fontM, s: s, turned: true})
}

// planes places the NVSwitches below the GPUs, or leaves room for a mesh, and
// returns where it ends.
func (in *inside) planes(server, y int) int {
	_, _, planes, _ := in.parts(server)
	r := in.at[server]
	if len(planes) == 0 {
		return y + in.mesh(server)
	}
	y += planeRoom
	for k, p := range planes {
		mid := r.x + (2*k+1)*r.w/(2*len(planes))
		w := planeW
		if len(planes) == 1 {
			w = max(r.w/2, width(in.Boxes[p].Label, fontM)+2*gap)
		}
		in.at[p] = rect{mid - w/2, y, w, planeH}
		in.label(p, fontM)
	}
	return y + planeH + pad
}

// mesh returns the room that links between the GPUs of a server need.
func (in *inside) mesh(server int) int {
	deep := 0
	for _, l := range in.Links {
		if l.Wire == NVLink && in.Boxes[l.B].Kind == GPU && in.within(l.A, server) {
			deep = max(deep, sag(in.at[l.A], in.at[l.B])/2+pad)
		}
	}
	return deep
}

// within reports whether a box lies in a server.
func (l *layout) within(i, server int) bool {
	for i >= 0 && i != server {
		i = l.Boxes[i].Parent
	}
	return i == server
}
