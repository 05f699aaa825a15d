package wire

// ProtocolVersion numbers the contract between coordinator and nodesim. It
// changes whenever two builds would give different times or misread each other.
const ProtocolVersion = 1
