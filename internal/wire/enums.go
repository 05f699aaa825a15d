package wire

import (
	"github.com/railyard/railyard/collective"
	railyardv1 "github.com/railyard/railyard/proto/railyard/v1"
)

var ops = enum[collective.Op, railyardv1.Op]{"op", []pair[collective.Op, railyardv1.Op]{
	{collective.AllReduce, railyardv1.Op_OP_ALL_REDUCE},
	{collective.AllGather, railyardv1.Op_OP_ALL_GATHER},
	{collective.ReduceScatter, railyardv1.Op_OP_REDUCE_SCATTER},
	{collective.Broadcast, railyardv1.Op_OP_BROADCAST},
	{collective.Reduce, railyardv1.Op_OP_REDUCE},
	{collective.AllToAll, railyardv1.Op_OP_ALL_TO_ALL},
	{collective.SendRecv, railyardv1.Op_OP_SEND_RECV},
	{collective.Gather, railyardv1.Op_OP_GATHER},
	{collective.Scatter, railyardv1.Op_OP_SCATTER},
	{collective.AllToAllV, railyardv1.Op_OP_ALL_TO_ALL_V},
	{collective.Barrier, railyardv1.Op_OP_BARRIER},
	{collective.Custom, railyardv1.Op_OP_CUSTOM},
}}

var protocols = enum[collective.Protocol, railyardv1.Protocol]{"protocol", []pair[collective.Protocol, railyardv1.Protocol]{
	{collective.Simple, railyardv1.Protocol_PROTOCOL_SIMPLE},
	{collective.LL, railyardv1.Protocol_PROTOCOL_LL},
	{collective.LL128, railyardv1.Protocol_PROTOCOL_LL128},
}}

var dtypes = enum[collective.DType, railyardv1.DataType]{"dtype", []pair[collective.DType, railyardv1.DataType]{
	{collective.Float32, railyardv1.DataType_DATA_TYPE_FLOAT},
	{collective.Float16, railyardv1.DataType_DATA_TYPE_HALF},
	{collective.BFloat16, railyardv1.DataType_DATA_TYPE_BFLOAT16},
	{collective.Float64, railyardv1.DataType_DATA_TYPE_DOUBLE},
	{collective.Int8, railyardv1.DataType_DATA_TYPE_INT8},
	{collective.Uint8, railyardv1.DataType_DATA_TYPE_UINT8},
	{collective.Int32, railyardv1.DataType_DATA_TYPE_INT32},
	{collective.Uint32, railyardv1.DataType_DATA_TYPE_UINT32},
	{collective.Int64, railyardv1.DataType_DATA_TYPE_INT64},
	{collective.Uint64, railyardv1.DataType_DATA_TYPE_UINT64},
	{collective.Float8E4M3, railyardv1.DataType_DATA_TYPE_F8E4M3},
	{collective.Float8E5M2, railyardv1.DataType_DATA_TYPE_F8E5M2},
}}

var redops = enum[collective.RedOp, railyardv1.Reduction]{"redop", []pair[collective.RedOp, railyardv1.Reduction]{
	{collective.Sum, railyardv1.Reduction_REDUCTION_SUM},
	{collective.Prod, railyardv1.Reduction_REDUCTION_PROD},
	{collective.Min, railyardv1.Reduction_REDUCTION_MIN},
	{collective.Max, railyardv1.Reduction_REDUCTION_MAX},
	{collective.Avg, railyardv1.Reduction_REDUCTION_AVG},
	{collective.MulSum, railyardv1.Reduction_REDUCTION_MULSUM},
}}

// EncodeOp returns the contract's name of an operation.
func EncodeOp(o collective.Op) railyardv1.Op { return ops.encode(o) }

// DecodeOp returns the operation, or an error that lists what is allowed; so do
// the other Decode functions of this file.
func DecodeOp(o railyardv1.Op) (collective.Op, error) { return ops.decode(o) }

// EncodeProtocol returns the contract's name of a protocol.
func EncodeProtocol(p collective.Protocol) railyardv1.Protocol { return protocols.encode(p) }

// DecodeProtocol returns the protocol. Unspecified is an error: whoever lets the
// tuner choose asks for that first.
func DecodeProtocol(p railyardv1.Protocol) (collective.Protocol, error) { return protocols.decode(p) }

// EncodeDType returns the contract's name of an element type.
func EncodeDType(d collective.DType) railyardv1.DataType { return dtypes.encode(d) }

// DecodeDType returns the element type.
func DecodeDType(d railyardv1.DataType) (collective.DType, error) { return dtypes.decode(d) }

// EncodeRedOp returns the contract's name of a reduction.
func EncodeRedOp(r collective.RedOp) railyardv1.Reduction { return redops.encode(r) }

// DecodeRedOp returns the reduction.
func DecodeRedOp(r railyardv1.Reduction) (collective.RedOp, error) { return redops.decode(r) }
