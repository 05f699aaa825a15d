package catalog

import "embed"

// Text is the catalog's tables as they are written. Sources stand behind the
// figures there and nowhere else, so whoever prints both reads them from here.
//
//go:embed system_*.go parts.go doc.go
var Text embed.FS
