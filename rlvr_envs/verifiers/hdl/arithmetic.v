// Arithmetic as few gates, each operator in its plainest form: carries ripple, products are sums of
// rows, quotients come out bit by bit. Two designs that compute the same in different words then
// have much in common, and small circuits simulate faster than fast ones. A carry chain is written
// as one expression over vectors, of which a bit depends on lower bits alone.

// The carries into each bit, and out of the last, of a + b + carry_in.
module rlvr_carries (a, b, carry_in, carries);
  parameter WIDTH = 1;
  input [WIDTH-1:0] a;
  input [WIDTH-1:0] b;
  input carry_in;
  output [WIDTH:0] carries;
  assign carries[0] = carry_in;
  assign carries[WIDTH:1] = (a & b) | ((a ^ b) & carries[WIDTH-1:0]);
endmodule

(* techmap_celltype = "$add $sub $neg" *)
module rlvr_sum (A, B, Y);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  parameter _TECHMAP_CELLTYPE_ = "";
  (* force_downto *) input [A_WIDTH-1:0] A;
  (* force_downto *) input [B_WIDTH-1:0] B;
  (* force_downto *) output [Y_WIDTH-1:0] Y;

  localparam MINUS = _TECHMAP_CELLTYPE_ != "$add";
  wire [Y_WIDTH-1:0] left;
  wire [Y_WIDTH-1:0] right;
  wire [Y_WIDTH:0] carries;
  generate
    if (_TECHMAP_CELLTYPE_ == "$neg") begin
      \$pos #(.A_SIGNED(A_SIGNED), .A_WIDTH(A_WIDTH), .Y_WIDTH(Y_WIDTH)) wide (.A(A), .Y(right));
      assign left = 0;
    end else begin
      \$pos #(.A_SIGNED(A_SIGNED), .A_WIDTH(A_WIDTH), .Y_WIDTH(Y_WIDTH)) wide_a (.A(A), .Y(left));
      \$pos #(.A_SIGNED(B_SIGNED), .A_WIDTH(B_WIDTH), .Y_WIDTH(Y_WIDTH)) wide_b (.A(B), .Y(right));
    end
  endgenerate
  wire [Y_WIDTH-1:0] added = MINUS ? ~right : right;
  rlvr_carries #(.WIDTH(Y_WIDTH)) chain (left, added, MINUS, carries);
  assign Y = left ^ added ^ carries[Y_WIDTH-1:0];
endmodule

(* techmap_celltype = "$lt $le $gt $ge" *)
module rlvr_order (A, B, Y);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  parameter _TECHMAP_CELLTYPE_ = "";
  (* force_downto *) input [A_WIDTH-1:0] A;
  (* force_downto *) input [B_WIDTH-1:0] B;
  (* force_downto *) output [Y_WIDTH-1:0] Y;

  localparam WIDTH = A_WIDTH > B_WIDTH ? A_WIDTH : B_WIDTH;
  localparam SWAPPED = _TECHMAP_CELLTYPE_ == "$gt" || _TECHMAP_CELLTYPE_ == "$le";
  localparam INVERTED = _TECHMAP_CELLTYPE_ == "$ge" || _TECHMAP_CELLTYPE_ == "$le";
  wire [WIDTH-1:0] a;
  wire [WIDTH-1:0] b;
  \$pos #(.A_SIGNED(A_SIGNED), .A_WIDTH(A_WIDTH), .Y_WIDTH(WIDTH)) wide_a (.A(A), .Y(a));
  \$pos #(.A_SIGNED(B_SIGNED), .A_WIDTH(B_WIDTH), .Y_WIDTH(WIDTH)) wide_b (.A(B), .Y(b));

  // Signed numbers are in the order of unsigned ones once their signs are turned.
  wire [WIDTH-1:0] sign = (A_SIGNED && B_SIGNED) ? {1'b1, {(WIDTH - 1) {1'b0}}} : {WIDTH{1'b0}};
  wire [WIDTH-1:0] less = (SWAPPED ? b : a) ^ sign;
  wire [WIDTH-1:0] more = (SWAPPED ? a : b) ^ sign;
  wire [WIDTH:0] carries;
  rlvr_carries #(.WIDTH(WIDTH)) chain (less, ~more, 1'b1, carries);
  assign Y = INVERTED ? carries[WIDTH] : !carries[WIDTH];
endmodule

(* techmap_celltype = "$mul" *)
module rlvr_product (A, B, Y);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  (* force_downto *) input [A_WIDTH-1:0] A;
  (* force_downto *) input [B_WIDTH-1:0] B;
  (* force_downto *) output [Y_WIDTH-1:0] Y;

  // The top row of a signed factor counts negatively.
  localparam ROWS = B_WIDTH < Y_WIDTH ? B_WIDTH : Y_WIDTH;
  localparam NEGATIVE = B_SIGNED && ROWS == B_WIDTH;
  wire [Y_WIDTH-1:0] a;
  \$pos #(.A_SIGNED(A_SIGNED), .A_WIDTH(A_WIDTH), .Y_WIDTH(Y_WIDTH)) wide_a (.A(A), .Y(a));
  wire [(ROWS+1)*Y_WIDTH-1:0] sums;
  assign sums[Y_WIDTH-1:0] = 0;
  genvar i;
  generate
    for (i = 0; i < ROWS; i = i + 1) begin : row
      localparam MINUS = NEGATIVE && i == ROWS - 1;
      localparam LEFT = Y_WIDTH - i;
      wire [LEFT-1:0] before = sums[i*Y_WIDTH+Y_WIDTH-1:i*Y_WIDTH+i];
      wire [LEFT-1:0] row = a[LEFT-1:0] & {LEFT{B[i]}};
      wire [LEFT-1:0] added = MINUS ? ~row : row;
      wire [LEFT:0] carries;
      rlvr_carries #(.WIDTH(LEFT)) chain (before, added, MINUS, carries);
      assign sums[(i+1)*Y_WIDTH+Y_WIDTH-1:(i+1)*Y_WIDTH+i] = before ^ added ^ carries[LEFT-1:0];
      if (i > 0)
        assign sums[(i+1)*Y_WIDTH+i-1:(i+1)*Y_WIDTH] = sums[i*Y_WIDTH+i-1:i*Y_WIDTH];
    end
  endgenerate
  assign Y = sums[ROWS*Y_WIDTH+Y_WIDTH-1:ROWS*Y_WIDTH];
endmodule

// Long division. By zero, the quotient is all ones and the remainder is the dividend, whatever the
// widths are.
(* techmap_celltype = "$div $mod" *)
module rlvr_division (A, B, Y);
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

  // How far up a bit may be one: loops that make decimal digits divide 32-bit integers of which
  // most bits are known to be zero.
  localparam [A_WIDTH:0] MAY_A = {1'b0, ~_TECHMAP_CONSTMSK_A_ | _TECHMAP_CONSTVAL_A_};
  localparam [B_WIDTH:0] MAY_B = {1'b0, ~_TECHMAP_CONSTMSK_B_ | _TECHMAP_CONSTVAL_B_};
  localparam WA = MAY_A == 0 ? 1 : $clog2(MAY_A + 1);
  localparam WB = MAY_B == 0 ? 1 : $clog2(MAY_B + 1);
  localparam SIGNED = A_SIGNED && B_SIGNED && (WA == A_WIDTH || WB == B_WIDTH);
  wire minus_a = SIGNED && A[A_WIDTH-1];
  wire minus_b = SIGNED && B[B_WIDTH-1];
  wire [WA-1:0] a;
  wire [WB-1:0] b;
  generate
    if (SIGNED) begin
      assign a = minus_a ? -A[WA-1:0] : A[WA-1:0];
      assign b = minus_b ? -B[WB-1:0] : B[WB-1:0];
    end else begin
      assign a = A[WA-1:0];
      assign b = B[WB-1:0];
    end
  endgenerate

  wire [WA-1:0] quotient;
  wire [(WA+1)*WB-1:0] rests;
  assign rests[(WA+1)*WB-1:WA*WB] = 0;
  genvar i;
  generate
    for (i = WA - 1; i >= 0; i = i - 1) begin : digit
      wire [WB:0] rest = {rests[(i+2)*WB-1:(i+1)*WB], a[i]};
      wire [WB:0] taken = {1'b1, ~b};
      wire [WB+1:0] carries;
      rlvr_carries #(.WIDTH(WB + 1)) chain (rest, taken, 1'b1, carries);
      wire [WB:0] less = rest ^ taken ^ carries[WB:0];
      assign quotient[i] = carries[WB+1];
      assign rests[(i+1)*WB-1:i*WB] = carries[WB+1] ? less[WB-1:0] : rest[WB-1:0];
    end
  endgenerate

  localparam WIDE = (WA > Y_WIDTH ? WA : Y_WIDTH) + WB;
  wire [WIDE-1:0] size = _TECHMAP_CELLTYPE_ == "$div" ? quotient : rests[WB-1:0];
  wire minus = _TECHMAP_CELLTYPE_ == "$div" ? minus_a ^ minus_b : minus_a;
  wire [WIDE-1:0] result;
  generate
    if (SIGNED) assign result = minus ? -size : size;
    else assign result = size;
  endgenerate
  wire [Y_WIDTH-1:0] whole;
  \$pos #(.A_SIGNED(A_SIGNED), .A_WIDTH(A_WIDTH), .Y_WIDTH(Y_WIDTH)) wide_a (.A(A), .Y(whole));
  wire [Y_WIDTH-1:0] by_zero = _TECHMAP_CELLTYPE_ == "$div" ? {Y_WIDTH{1'b1}} : whole;
  assign Y = |b ? result[Y_WIDTH-1:0] : by_zero;
endmodule

(* techmap_celltype = "$shl $shr $sshl $sshr" *)
module rlvr_shifter (A, B, Y);
  parameter A_SIGNED = 0;
  parameter B_SIGNED = 0;
  parameter A_WIDTH = 1;
  parameter B_WIDTH = 1;
  parameter Y_WIDTH = 1;
  parameter _TECHMAP_CELLTYPE_ = "";
  (* force_downto *) input [A_WIDTH-1:0] A;
  (* force_downto *) input [B_WIDTH-1:0] B;
  (* force_downto *) output [Y_WIDTH-1:0] Y;

  localparam LEFT = _TECHMAP_CELLTYPE_ == "$shl" || _TECHMAP_CELLTYPE_ == "$sshl";
  localparam WIDTH = A_WIDTH > Y_WIDTH ? A_WIDTH : Y_WIDTH;
  // Bits of the amount that move something out of the word altogether are looked at together.
  localparam ALL = $clog2(WIDTH + 1);
  localparam STEPS = B_WIDTH < ALL ? B_WIDTH : ALL;
  wire [WIDTH-1:0] a;
  \$pos #(.A_SIGNED(A_SIGNED), .A_WIDTH(A_WIDTH), .Y_WIDTH(WIDTH)) wide_a (.A(A), .Y(a));
  wire fill = _TECHMAP_CELLTYPE_ == "$sshr" && A_SIGNED && A[A_WIDTH-1];
  wire [(STEPS+1)*WIDTH-1:0] words;
  assign words[WIDTH-1:0] = a;
  genvar i;
  generate
    for (i = 0; i < STEPS; i = i + 1) begin : step
      localparam BY = (1 << i) < WIDTH ? (1 << i) : WIDTH;
      wire [WIDTH-1:0] word = words[(i+1)*WIDTH-1:i*WIDTH];
      wire [WIDTH+BY-1:0] longer = LEFT ? {word, {BY{1'b0}}} : {{BY{fill}}, word};
      wire [WIDTH-1:0] moved = LEFT ? longer[WIDTH-1:0] : longer[WIDTH+BY-1:BY];
      assign words[(i+2)*WIDTH-1:(i+1)*WIDTH] = B[i] ? moved : word;
    end
    if (STEPS < B_WIDTH) begin
      wire [WIDTH-1:0] last = |B[B_WIDTH-1:STEPS] ? {WIDTH{fill}} : words[(STEPS+1)*WIDTH-1:STEPS*WIDTH];
      assign Y = last[Y_WIDTH-1:0];
    end else
      assign Y = words[STEPS*WIDTH+Y_WIDTH-1:STEPS*WIDTH];
  endgenerate
endmodule
