package proto

import (
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Every row, bytes → Request → JSON → Request → bytes, bit for bit.
func TestRequestsRoundTrip(t *testing.T) {
	for _, row := range Rows() {
		t.Run(row.Name, rapid.MakeCheck(func(t *rapid.T) {
			w := Wire{Minor: Minor, SetxattrExt: rapid.Bool().Draw(t, "setxattr_ext")}
			sent := drawRequest(t, row)
			if row.Op == OpInit {
				setUint(row.in.field("Minor"), sent.In, uint64(rapid.SampledFrom([]uint32{5, 6, 35, 36, 45}).Draw(t, "minor")))
			}
			bytes, err := w.AppendRequest(nil, sent)
			require.NoError(t, err)

			got, err := w.DecodeRequest(bytes)
			require.NoError(t, err)
			got.Header.Comm, got.Header.Now = name().Draw(t, "comm"), Time{Sec: rapid.Int64().Draw(t, "sec"), Nsec: 7}
			got.Header.Groups = rapid.SliceOfN(rapid.Uint32(), 0, 3).Draw(t, "groups")
			json, err := AppendRequestJSON(nil, got)
			require.NoError(t, err)

			back, err := ParseRequestJSON(json)
			require.NoError(t, err, "%s", json)
			again, err := w.AppendRequest(nil, back)
			require.NoError(t, err)
			assert.Equal(t, bytes, again, "%s", json)
			json2, err := AppendRequestJSON(nil, back)
			require.NoError(t, err)
			assert.Equal(t, string(json), string(json2))
		}))
	}
}

// Every row, bytes → Reply → JSON → Reply → bytes, bit for bit.
func TestRepliesRoundTrip(t *testing.T) {
	for _, row := range Rows() {
		if row.Reply == ReplyNone {
			continue
		}
		t.Run(row.Name, rapid.MakeCheck(func(t *rapid.T) {
			req := drawRequest(t, row)
			bytes, err := whole.AppendReply(nil, req, drawReply(t, req, row))
			require.NoError(t, err)
			got, err := whole.DecodeReply(req, bytes)
			require.NoError(t, err)
			json, err := AppendReplyJSON(nil, req, got)
			require.NoError(t, err)

			back, err := ParseReplyJSON(req, json)
			require.NoError(t, err, "%s", json)
			again, err := whole.AppendReply(nil, req, back)
			require.NoError(t, err)
			assert.Equal(t, bytes, again, "%s", json)
		}))
	}
}

func TestNotificationsRoundTrip(t *testing.T) {
	for code := range notifyTable {
		row := NotifyCode(code).row()
		if row == nil {
			continue
		}
		t.Run(row.name, rapid.MakeCheck(func(t *rapid.T) {
			n := Notification{Code: NotifyCode(code), Out: drawStruct(t, row.layout)}
			if row.data {
				n.Data = payload().Draw(t, "data")
			} else if row.length != "" {
				n.Name = name().Draw(t, "name")
			}
			req, reply := lookup()
			reply.Notify = []Notification{n, n}
			json, err := AppendReplyJSON(nil, req, reply)
			require.NoError(t, err)
			back, err := ParseReplyJSON(req, json)
			require.NoError(t, err, "%s", json)
			require.Len(t, back.Notify, 2)
			want, err := AppendNotification(nil, &n)
			require.NoError(t, err)
			got, err := AppendNotification(nil, &back.Notify[1])
			require.NoError(t, err)
			assert.Equal(t, want, got)
		}))
	}
}

// The bytes as the kernel sends them, annotated, and the JSON that they are.
func TestVectors(t *testing.T) {
	file, err := os.ReadFile("testdata/vectors.txt")
	require.NoError(t, err)
	for _, vector := range strings.Split(strings.TrimSpace(string(file)), "\n\n") {
		dump, want, ok := strings.Cut(vector, "\n= ")
		require.True(t, ok, "a vector ends in '= JSON': %s", vector)
		t.Run(strings.TrimPrefix(strings.SplitN(dump, "\n", 2)[0], "# "), func(t *testing.T) {
			bytes := parseDump(t, dump)
			req, err := Wire{Minor: Minor}.DecodeRequest(bytes)
			require.NoError(t, err)
			json, err := AppendRequestJSON(nil, req)
			require.NoError(t, err)
			assert.Equal(t, want, string(json))
			again, err := Wire{Minor: Minor}.AppendRequest(nil, req)
			require.NoError(t, err)
			assert.Equal(t, bytes, again)
		})
	}
}

// parseDump reads hex; what follows a # is an annotation.
func parseDump(t *testing.T, dump string) []byte {
	var digits strings.Builder
	for _, line := range strings.Split(dump, "\n") {
		line, _, _ = strings.Cut(line, "#")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	b, err := hex.DecodeString(digits.String())
	require.NoError(t, err)
	return b
}
