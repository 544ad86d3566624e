"""The reserved words of Verilog-2001, and those that came later."""

_VERILOG = """
always and assign automatic begin buf case casex casez cell config deassign default defparam
design disable edge else end endcase endconfig endfunction endgenerate endmodule endprimitive
endspecify endtable endtask event for force forever fork function generate genvar highz0 highz1 if
ifnone incdir include initial inout input instance integer join large liblist library localparam
macromodule medium module nand negedge nor noshowcancelled not or output parameter posedge primitive
pull0 pull1 pulsestyle_ondetect pulsestyle_onevent real realtime reg release repeat scalared
showcancelled signed small specify specparam strong0 strong1 supply0 supply1 table task time tri
tri0 tri1 triand trior trireg unsigned use vectored wait wand weak0 weak1 while wire wor xnor xor
bufif0 bufif1 notif0 notif1 nmos pmos rnmos rpmos cmos rcmos tran rtran tranif0 tranif1 rtranif0
rtranif1 pullup pulldown
"""
_LATER = """
accept_on alias always_comb always_ff always_latch assert assume before bind bins binsof bit break
byte chandle checker class clocking const constraint context continue cover covergroup coverpoint
cross dist do endchecker endclass endclocking endgroup endinterface endpackage endprogram
endproperty endsequence enum eventually expect export extends extern final first_match foreach
forkjoin global iff ignore_bins illegal_bins implements implies import inside int interconnect
interface intersect join_any join_none let local logic longint matches modport nettype new nexttime
null package packed priority program property protected pure rand randc randcase randsequence ref
reject_on restrict return s_always s_eventually s_nexttime s_until s_until_with sequence shortint
shortreal soft solve static string strong struct super sync_accept_on sync_reject_on tagged this
throughout timeprecision timeunit type typedef union unique unique0 until until_with untyped uwire
var virtual void wait_order weak wildcard with within
"""

VERILOG = frozenset(_VERILOG.split())
LATER = frozenset(_LATER.split())
