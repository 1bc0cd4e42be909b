// Package session is one mount's memory: a request becomes what a model sees,
// its answer becomes the reply, and every failure on the way becomes an errno
// that is counted.
//
// Embedded models need the request alone ([None]). Language models get a
// conversation, chosen from the past by a context strategy: [Full], [Window]
// or [Ledger].
//
// # The conversation
//
// The first message is the system message. Then come user and assistant by
// turns; the last message is the user's.
//
// A user's message is a request, as [proto.AppendRequestJSON] writes it, or an
// envelope around one: an object with these members in this order, each left
// out where it is empty, but Request:
//
//	Ledger   object  the facts that can decide the request; see below
//	LeftOut  object  how much of the past did not fit, by kind:
//	  Pairs    earlier requests with their replies that no turn shows (Window)
//	  Nodes    the way up to the root was cut
//	  Entries  entries of the listing that come after those shown
//	  Xattrs   extended attributes of nodes that are shown
//	  Bytes    bytes of content that the request asks about
//	Since    array   requests that the daemon has handled since the turn before,
//	                 because nobody reads their reply: RELEASE, FORGET … (Full, Window)
//	Invalid  array   strings: what was wrong with the answer before
//	Request  object  the request
//
// An assistant's message is {"Reply":…} with an accepted reply as
// [proto.AppendReplyJSON] writes it, or, in lean form, as the model gave it,
// without white space. Turns hold only accepted replies, in the order in which
// these came. While an answer is mended, three messages end the conversation:
// the request as it was asked, the invalid answer (cut to 2,000 bytes), and an
// envelope of Invalid and Request.
//
// Under Full the messages of a question are a prefix of the next question's,
// byte for byte, as long as requests come one at a time. Under Ledger turns are
// bare requests, and all that they and the requests without a reply have
// changed is in the Ledger already.
//
// # The ledger
//
// Facts come from accepted replies and their requests, by struct types, field
// names and the roles of names; project.go lists the rules. Writes, renames,
// links, removals, truncations and the like bring told attributes forward:
// Size, Mode, Nlink, mtime and ctime of files, and Mode, Nlink, mtime and ctime
// of directories. Blocks, a directory's Size, and atime are as last told.
//
// A prompt has the facts about the nodes that the request names (Header.NodeId,
// Newdir, Oldnodeid, NodeIdOut), the entries that its names are or would be and
// the nodes behind them, its handles, the content in its range, the way up to
// the root, and for a listing the entries from its cookie on; in this order, as
// far as the budget goes. Its form, without white space:
//
//	Nodes    array   by NodeId:
//	  NodeId      integer
//	  Generation  integer  left out where 0
//	  Attr        object   as in replies; left out where it was never told
//	  Target      string   of a symbolic link, if told; bytes as in replies
//	  Complete    boolean  of a directory, as the next two: there are no other
//	                       names than are known
//	  Count       integer  how many names are known to exist
//	  Entries     array    those that matter to the request; of a listing in the
//	                       order in which it was told, new names last:
//	    Name     string
//	    Missing  true     known not to exist; then nothing else follows
//	    NodeId   integer  left out where only the name was told
//	    Type     integer  DT_*
//	    Off      integer  the cookie after it; left out where it was not listed
//	  Content     array    what is known of the asked range, by Offset; what no
//	                       element covers was never told. Each has Offset and one of
//	    Data    string   bytes as in replies
//	    Zeros   integer  so many zero bytes: a hole, or what truncation added
//	    Length  integer  so many bytes that are known, but not shown
//	  Xattrs      array    Name, and Data, or Missing true, or neither where only the
//	                       name was told
//	  XattrsComplete  true  there are no others
//	  Locks       array    for requests about locks: Owner, Start, End, Typ, Pid, Flock
//	Handles  array   those that the request names: Fh, NodeId, Flags (O_*), OpenFlags
//	Off      array   names of opcodes that were answered ENOSYS for good
//	Statfs   object  for STATFS: the last reply's Out, if there was one
//	Last     object  NodeId, Fh, Off: the highest given out so far
//
// A filesystem that takes Attr where it is told, a missing or unknown name of a
// complete directory as missing, and unknown bytes below Size as its own
// invention answers the request from this alone.
package session
