// Divides no more bits than the operands can have: the loops that turn a number into decimal digits
// divide 32-bit integers of which most bits are known to be zero. Restoring division grows with the
// square of the width.
(* techmap_celltype = "$div $mod" *)
module narrow_division (A, B, Y);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  parameter _TECHMAP_CELLTYPE_ = "";
  parameter [A_WIDTH-1:0] _TECHMAP_CONSTMSK_A_ = 0;
  parameter [A_WIDTH-1:0] _TECHMAP_CONSTVAL_A_ = 0;
  parameter [B_WIDTH-1:0] _TECHMAP_CONSTMSK_B_ = 0;
  parameter [B_WIDTH-1:0] _TECHMAP_CONSTVAL_B_ = 0;

  (* force_downto *) input [A_WIDTH-1:0] A;
  (* force_downto *) input [B_WIDTH-1:0] B;
  (* force_downto *) output [Y_WIDTH-1:0] Y;

  // One bit at least, and beyond it as far up as a bit may be one.
  function integer used_a;
    input unused;
    integer i;
    begin
      used_a = 1;
      for (i = 1; i < A_WIDTH; i = i + 1)
        if (!_TECHMAP_CONSTMSK_A_[i] || _TECHMAP_CONSTVAL_A_[i]) used_a = i + 1;
    end
  endfunction

  function integer used_b;
    input unused;
    integer i;
    begin
      used_b = 1;
      for (i = 1; i < B_WIDTH; i = i + 1)
        if (!_TECHMAP_CONSTMSK_B_[i] || _TECHMAP_CONSTVAL_B_[i]) used_b = i + 1;
    end
  endfunction

  localparam USED_A = used_a(0);
  localparam USED_B = used_b(0);
  localparam WIDTH = USED_A > USED_B ? USED_A : USED_B;
  // A signed operand is the same number without its sign where the top bit is known to be zero.
  localparam MAY_BE_NEGATIVE = (A_SIGNED && USED_A == A_WIDTH) || (B_SIGNED && USED_B == B_WIDTH);
  localparam NARROWER = WIDTH < A_WIDTH || WIDTH < B_WIDTH || WIDTH < Y_WIDTH;
  wire _TECHMAP_FAIL_ = MAY_BE_NEGATIVE || !NARROWER;

  wire [WIDTH-1:0] a = A[USED_A-1:0];
  wire [WIDTH-1:0] b = B[USED_B-1:0];
  wire [WIDTH-1:0] y;

  generate
    if (_TECHMAP_CELLTYPE_ == "$div")
      \$div #(.A_SIGNED(0), .B_SIGNED(0), .A_WIDTH(WIDTH), .B_WIDTH(WIDTH), .Y_WIDTH(WIDTH))
        _TECHMAP_REPLACE_ (.A(a), .B(b), .Y(y));
    else
      \$mod #(.A_SIGNED(0), .B_SIGNED(0), .A_WIDTH(WIDTH), .B_WIDTH(WIDTH), .Y_WIDTH(WIDTH))
        _TECHMAP_REPLACE_ (.A(a), .B(b), .Y(y));
  endgenerate
  assign Y = y;
endmodule
