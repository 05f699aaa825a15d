#include "textflag.h"

// Sums with AVX2. Each takes n elements, a positive multiple of 32; addresses
// need no alignment. The processor rounds to nearest even, as Go sets it up.

// func addFloatsAVX(dst, a, b *byte, n int)
TEXT ·addFloatsAVX(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX

floats:
	VMOVUPS (SI), Y0
	VMOVUPS 32(SI), Y1
	VMOVUPS 64(SI), Y2
	VMOVUPS 96(SI), Y3
	VADDPS  (DX), Y0, Y0
	VADDPS  32(DX), Y1, Y1
	VADDPS  64(DX), Y2, Y2
	VADDPS  96(DX), Y3, Y3
	VMOVUPS Y0, (DI)
	VMOVUPS Y1, 32(DI)
	VMOVUPS Y2, 64(DI)
	VMOVUPS Y3, 96(DI)
	ADDQ    $128, SI
	ADDQ    $128, DX
	ADDQ    $128, DI
	SUBQ    $32, CX
	JNZ     floats
	VZEROUPPER
	RET

// HALVES adds eight halves at an offset; NaNs become Y15, which rounds to 0x7fff.
#define HALVES(at, x, y) \
	VCVTPH2PS at(SI), x       \
	VCVTPH2PS at(DX), y       \
	VADDPS    y, x, x         \
	VCMPPS    $3, x, x, y     \
	VBLENDVPS y, Y15, x, x    \
	VCVTPS2PH $0, x, at(DI)

// func addHalvesAVX(dst, a, b *byte, n int)
TEXT ·addHalvesAVX(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX
	MOVL $0x7fffffff, AX
	VMOVD AX, X15
	VPBROADCASTD X15, Y15

halves:
	HALVES(0, Y0, Y1)
	HALVES(16, Y2, Y3)
	HALVES(32, Y4, Y5)
	HALVES(48, Y6, Y7)
	ADDQ $64, SI
	ADDQ $64, DX
	ADDQ $64, DI
	SUBQ $32, CX
	JNZ  halves
	VZEROUPPER
	RET

// BFLOATS adds eight bfloat16s at an offset into the low halves of x: float32s,
// to which half of the last bit kept is added, less one unless that bit is odd,
// before the rest is cut off. NaNs become Y15.
#define BFLOATS(at, x, y, z) \
	VPMOVZXWD at(SI), x    \
	VPMOVZXWD at(DX), y    \
	VPSLLD    $16, x, x    \
	VPSLLD    $16, y, y    \
	VADDPS    y, x, x      \
	VCMPPS    $3, x, x, y  \
	VPSRLD    $16, x, z    \
	VPAND     Y14, z, z    \
	VPADDD    Y15, z, z    \
	VPADDD    z, x, x      \
	VPSRLD    $16, x, x    \
	VBLENDVPS y, Y15, x, x

// func addBFloatsAVX(dst, a, b *byte, n int)
TEXT ·addBFloatsAVX(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), SI
	MOVQ b+16(FP), DX
	MOVQ n+24(FP), CX
	MOVL $0x7fff, AX
	VMOVD AX, X15
	VPBROADCASTD X15, Y15
	MOVL $1, AX
	VMOVD AX, X14
	VPBROADCASTD X14, Y14

bfloats:
	BFLOATS(0, Y0, Y1, Y2)
	BFLOATS(16, Y3, Y4, Y5)
	BFLOATS(32, Y6, Y7, Y8)
	BFLOATS(48, Y9, Y10, Y11)
	VPACKUSDW Y3, Y0, Y0
	VPACKUSDW Y9, Y6, Y6
	VPERMQ    $0xd8, Y0, Y0
	VPERMQ    $0xd8, Y6, Y6
	VMOVDQU   Y0, (DI)
	VMOVDQU   Y6, 32(DI)
	ADDQ $64, SI
	ADDQ $64, DX
	ADDQ $64, DI
	SUBQ $32, CX
	JNZ  bfloats
	VZEROUPPER
	RET

// func hasF16C() bool
TEXT ·hasF16C(SB), NOSPLIT, $0-1
	MOVL $1, AX
	XORL CX, CX
	CPUID
	SHRL $29, CX
	ANDL $1, CX
	MOVB CX, ret+0(FP)
	RET
