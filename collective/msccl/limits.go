package msccl

// How large a file may be. What is beyond is refused before memory is taken
// for it. The largest file known in public has 17 MB, 3,000 blocks and 200,000
// steps; the figures leave room for a million steps on 256 ranks.
const (
	// MaxText is the most bytes of a file.
	MaxText = 256 << 20
	// maxRanks, maxBlocks (of a rank) and maxSteps (of all) bound the elements.
	maxRanks  = 1 << 14
	maxBlocks = 1 << 10
	maxSteps  = 4 << 20
	// maxSlots bounds ranks × blocks, for each needs an identity of 26 bits.
	maxSlots = 1 << 24
	// maxChannels is above NCCL's 64 (MAXCHANNELS, 2.30 src/include/device.h).
	maxChannels = 1 << 10
	// maxChunks bounds a buffer, in chunks, and maxCells those of all ranks.
	maxChunks = 1 << 20
	maxCells  = 1 << 24
	// maxMoves bounds the chunks that all steps together work on.
	maxMoves = 1 << 23
	// maxDepth, maxAttrs and maxValue (bytes) bound the XML itself.
	maxDepth = 16
	maxAttrs = 64
	maxValue = 4 << 10
	// maxNotes is how many remarks a file gets; the rest are alike.
	maxNotes = 8
)
