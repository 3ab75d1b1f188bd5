// Uses a server by code that protoc-gen-go generates from the proto: writes, reads, searches, exports,
// counts, and meets the errors that clients tell apart. Arguments: address, token of a writer. Prints
// `ok`, or fails.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"mddb/proto"
)

func must[T any](answer T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return answer
}

func expect(holds bool, what ...any) {
	if !holds {
		log.Fatal(what...)
	}
}

func main() {
	connection := must(grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials())))
	defer connection.Close()
	client := proto.NewMDDBClient(connection)
	bare, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	ctx := metadata.AppendToOutgoingContext(bare, "authorization", "Bearer "+os.Args[2])

	meta := map[string]*proto.MetaValues{"tags": {Values: []string{"a", "b"}}}
	added := must(client.Add(ctx, &proto.AddRequest{Collection: "golang", Key: "one", Lang: "en", Meta: meta, ContentMd: "a kingfisher"}))
	expect(added.Id == "golang|one|en" && added.AddedAt > 0, added)

	name := &proto.GetRequest{Collection: "golang", Key: "one", Lang: "en"}
	found := must(client.Get(ctx, name))
	expect(found.ContentMd == "a kingfisher" && len(found.Meta["tags"].Values) == 2, found)

	filter := map[string]*proto.MetaValues{"tags": {Values: []string{"a"}}}
	listed := must(client.Search(ctx, &proto.SearchRequest{Collection: "golang", FilterMeta: filter}))
	expect(listed.Total == 1 && listed.Documents[0].Key == "one", listed)

	searched := must(client.FTS(ctx, &proto.FTSRequest{Collection: "golang", Query: "kingfisher"}))
	expect(len(searched.Results) == 1 && searched.Results[0].Document.Key == "one", searched)

	stream := must(client.Export(ctx, &proto.ExportRequest{Collection: "golang", Format: "ndjson"}))
	var exported strings.Builder
	isLast := false
	for {
		chunk, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		must(chunk, err)
		exported.Write(chunk.Data)
		isLast = chunk.IsLast
	}
	expect(isLast && strings.Contains(exported.String(), `"a kingfisher"`), exported.String())

	updates := []*proto.UpdateDocument{{Key: "one", Lang: "en", ContentMd: "a heron"}, {Key: "two", Lang: "en", ContentMd: "x"}}
	updated := must(client.UpdateBatch(ctx, &proto.UpdateBatchRequest{Collection: "golang", Documents: updates}))
	expect(updated.Updated == 1 && updated.NotFound == 1 && updated.Failed == 0, updated)

	expect(must(client.Stats(ctx, &proto.StatsRequest{})).TotalDocuments >= 1, "no documents")

	_, err := client.Get(ctx, &proto.GetRequest{Collection: "golang", Key: "none", Lang: "en"})
	expect(status.Code(err) == codes.NotFound && strings.Contains(status.Convert(err).Message(), "not found"), err)
	_, err = client.Get(ctx, &proto.GetRequest{Collection: "golang"})
	expect(status.Code(err) == codes.InvalidArgument, err)
	_, err = client.Get(bare, name)
	expect(status.Code(err) == codes.Unauthenticated, err)
	_, err = client.Get(metadata.AppendToOutgoingContext(bare, "authorization", "Bearer none"), name)
	expect(status.Code(err) == codes.Unauthenticated, err)
	fmt.Println("ok")
}
